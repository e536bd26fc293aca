"""Which rows have a target, and which are made of two others."""

# The ratio to the reference taken in the same process must not be above these.
TARGETS = {
    "chain-64/replay": 1.3,
    "chain-64/eager": 9.0,
    "chain-64/eager from 2 threads": 1.3,
    "chain-4096/replay": 1.05,
    "wide/replay": 0.60,
    "wide/replay, recorded level by level": 0.60,
    "wide/replay after 1 ms of idleness": 1.05,
    "wide/replay after 1 ms of idleness, spinning": 0.65,
    "record/1,000 nodes of a chain": 15.0,
    "record/100,000 nodes against 1,000": 1.3,
    "reserve/1 KiB": 10.0,
    "reserve/64 KiB": 10.0,
    "reserve/1 MiB": 10.0,
    "reserve/16 MiB": 10.0,
    "reserve/64 MiB": 10.0,
    "reserve/mix of 1 KiB to 64 MiB": 10.0,
    "reserve/64 MiB taken, touched, released": 0.01,
    "update/one value of a graph of 1,000 nodes": 25.0,
    "photo/step of 512 x 512": 0.6,
    "quiet/allocations a replay": 0,
    "quiet/system calls a replay": 0,
    "quiet/contended locks a replay": 0,
    "quiet/wakes after a park": 1,
}

# The OpenCL backend beside OpenCL by hand, on each of PoCL's devices. On a device, one way of recording is in force.
OPENCL_DEVICES = ["basic", "pthread"]
for _device in OPENCL_DEVICES:
    for _load in ("chain-64", "chain-4096", "wide", "triad"):
        _begin = f"opencl/{_device} {_load}, "
        TARGETS[_begin + "replay"] = 1.05
        TARGETS[_begin + "replay against eager"] = 1.0
        TARGETS[_begin + "waits a replay"] = 1
        TARGETS[_begin + "questions a replay"] = 0
    TARGETS[f"opencl/{_device} chain-64, record and seal, replayed one by one"] = 0.2
    TARGETS[f"opencl/{_device} chain-64, record and seal, as command buffer"] = 1.2

# name: (row, the peers' rows of which the best counts, target). Both sides are taken relative to the plain C loop of
# their own process, in the same round.
AGAINST_PEERS = {
    "chain-64/eager against TBB's task_group": ("chain-64/eager", ["chain-64/TBB, task_group"], 1.0),
    "chain-64/replay against TBB's flow graph": ("chain-64/replay", ["chain-64/TBB, flow graph"], None),
    "wide/replay against the best of OpenMP and TBB": (
        "wide/replay", ["wide/OpenMP, chains by hand", "wide/TBB, chains by hand"], 1.05),
    "triad/replay against OpenMP": ("triad/replay", ["triad/OpenMP, parallel for"], 1.05),
    "triad/eager against OpenMP": ("triad/eager", ["triad/OpenMP, parallel for"], 1.05),
    "single/replay and sync against TBB's flow graph": (
        "single/replay and sync of one node", ["single/TBB, flow graph of one node"], 1.0),
}

GROUPS = ["chain-64", "chain-4096", "wide", "triad", "record", "single", "queued", "reserve", "update", "photo",
          "opencl", "quiet"]

# What a row is divided by, where it is not the plain C loop over the same kernels.
REFERENCES = {
    "chain-64/eager from 2 threads": "eager alone, slowed down as plain C is by a second thread",
    "record": "one plain call of a kernel of 64 floats",
    "record/100,000 nodes against 1,000": "a node of 1,000",
    "queued": "the same on a stream in direct mode",
    "reserve": "a mutex taken and given back",
    "reserve/64 MiB taken, touched, released": "the same with malloc",
    "update": "a mutex taken and given back",
    "photo": "the same kernels called in a row on one core",
    "opencl": "OpenCL by hand: the better of enqueueing and command buffer",
    "quiet": "nothing: a count",
}

for _name in [_name for _name in TARGETS if _name.startswith("opencl/")]:
    if "record and seal" in _name:
        REFERENCES[_name] = "a command buffer recorded by hand"
    elif _name.endswith("against eager"):
        REFERENCES[_name] = "Rondo's own eager launches"
    elif _name.endswith(" a replay"):
        REFERENCES[_name] = "nothing: a count"


def number(value):
    """As it is shown, and judged: what the last digit leaves out is less than the measurement can tell."""
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    if value < 0.1:
        return f"{value:.4f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def share(value):
    return "" if value is None else f"{value:.0%}"


def passed(row):
    return row["target"] is None or float(number(row["ratio"]).replace(",", "")) <= row["target"]


def target(name):
    if name in AGAINST_PEERS:
        return AGAINST_PEERS[name][2]
    return TARGETS.get(name)


def is_peer(name):
    return any(word in name.split("/", 1)[1] for word in ("OpenMP,", "TBB,", "PoCL", "Vulkan", "Warp", " by hand"))


def order(name):
    """Groups as they stand above; in each, Rondo's own rows first."""
    group = name.split("/", 1)[0]
    return GROUPS.index(group) if group in GROUPS else len(GROUPS), is_peer(name)
