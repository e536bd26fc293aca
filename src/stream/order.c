#include "stream/order.h"

#include "base/check.h"

void rdo_extents_sort(rdo_extent *extents, size_t count) {
    /* A handful at most, mostly in order already. */
    for (size_t i = 1; i < count; i++) {
        rdo_extent moved = extents[i];
        size_t j = i;
        for (; j > 0 && extents[j - 1].low > moved.low; j--) extents[j] = extents[j - 1];
        extents[j] = moved;
    }
}

size_t rdo_extents_seek(const rdo_extent *list, size_t count, uint64_t low) {
    size_t first = 0;
    while (count != 0) {
        size_t half = count / 2;
        if (list[first + half].high <= low) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

static bool one_meets(rdo_extent one, const rdo_extent *list, size_t count) {
    RDO_ASSERT(one.low < one.high);
    if (count > 16) {
        size_t i = rdo_extents_seek(list, count, one.low);
        return i < count && list[i].low < one.high;
    }
    for (size_t i = 0; i < count; i++) {
        if (list[i].low < one.high && one.low < list[i].high) return true;
    }
    return false;
}

bool rdo_extents_meet(const rdo_extent *a, size_t a_count, const rdo_extent *b, size_t b_count) {
    /* Each of the shorter list is looked up in the longer one. */
    bool a_is_short = a_count <= b_count;
    const rdo_extent *few = a_is_short ? a : b, *many = a_is_short ? b : a;
    size_t few_count = a_is_short ? a_count : b_count, many_count = a_is_short ? b_count : a_count;
    for (size_t i = 0; i < few_count; i++) {
        if (one_meets(few[i], many, many_count)) return true;
    }
    return false;
}

static bool conflict(const rdo_entry *a, const rdo_entry *b) {
    return rdo_extents_meet(a->writes, a->write_count, b->writes, b->write_count) ||
           rdo_extents_meet(a->writes, a->write_count, b->reads, b->read_count) ||
           rdo_extents_meet(a->reads, a->read_count, b->writes, b->write_count);
}

static bool map_conflicts(const rdo_order *order, const rdo_entry *entry) {
    if (order->maps == 0) return false;
    for (const rdo_entry *other = order->first; other != NULL; other = other->next) {
        if (other->map && conflict(other, entry)) return true;
    }
    return false;
}

static bool must_wait(const rdo_entry *entry) {
    for (const rdo_entry *other = entry->before; other != NULL; other = other->before) {
        if (conflict(other, entry)) return true;
    }
    for (size_t i = 0; i < entry->home_count; i++) {
        if (atomic_load_explicit(&entry->homes[i]->fast, memory_order_seq_cst) != 0) return true;
    }
    return false;
}

static void link_entry(rdo_order *order, rdo_entry *entry) {
    entry->ticket = ++order->last_ticket;
    entry->next = NULL;
    entry->before = order->last;
    *(order->last != NULL ? &order->last->next : &order->first) = entry;
    order->last = entry;
    for (size_t i = 0; i < entry->home_count; i++) {
        atomic_fetch_add_explicit(&entry->homes[i]->foreign, 1, memory_order_seq_cst);
    }
}

bool rdo_order_may_run(const rdo_entry *entry) {
    return !must_wait(entry);
}

void (*rdo_order_instead_of_waiting)(rdo_order *order);

static void wait_for_change(rdo_order *order, rdo_books *books) {
    if (RDO_UNLIKELY(rdo_order_instead_of_waiting != NULL)) {
        rdo_order_instead_of_waiting(order);
    } else {
        rdo_condition_wait(&books->changed, &books->lock);
    }
}

/* Whether work with a smaller ticket conflicts, or a mapping that itself still waits. */
static bool follows_work(const rdo_entry *entry) {
    for (const rdo_entry *other = entry->before; other != NULL; other = other->before) {
        if (!other->map && conflict(other, entry)) return true;
    }
    return false;
}

/* False: what it waited for became a mapping, and nothing else comes first any more, so that what the caller claims for
 * it stands. Waiting on, with the queue's lock held, could keep the owner of the mapping from ever ending it. */
static bool wait_for_turn(rdo_order *order, rdo_books *books, const rdo_entry *entry) {
    bool refused = false;
    if (!must_wait(entry)) return true;
    /* Said before the flags are looked at again, so that a fast operation that ends now wakes us. */
    atomic_fetch_add_explicit(&order->fast_waiters, 1, memory_order_seq_cst);
    while (!refused && must_wait(entry)) {
        refused = !follows_work(entry) && map_conflicts(order, entry);
        if (!refused) wait_for_change(order, books);
    }
    atomic_fetch_sub_explicit(&order->fast_waiters, 1, memory_order_seq_cst);
    return !refused;
}

bool rdo_order_register(rdo_order *order, rdo_entry *entry) {
    if (map_conflicts(order, entry)) return false;
    link_entry(order, entry);
    return true;
}

bool rdo_order_await(rdo_order *order, rdo_books *books, rdo_entry *entry) {
    if (wait_for_turn(order, books, entry)) return true;
    rdo_order_leave(order, books, entry);
    return false;
}

bool rdo_order_enter(rdo_order *order, rdo_books *books, rdo_entry *entry) {
    return rdo_order_register(order, entry) && rdo_order_await(order, books, entry);
}

void rdo_order_leave(rdo_order *order, rdo_books *books, rdo_entry *entry) {
    *(entry->before != NULL ? &entry->before->next : &order->first) = entry->next;
    *(entry->next != NULL ? &entry->next->before : &order->last) = entry->before;
    order->maps -= entry->map;
    for (size_t i = 0; i < entry->home_count; i++) {
        atomic_fetch_sub_explicit(&entry->homes[i]->foreign, 1, memory_order_seq_cst);
    }
    bool watched = order->first != NULL || atomic_load_explicit(&order->fast_waiters, memory_order_relaxed) != 0;
    if (watched) rdo_condition_tell(&books->changed);
}

bool rdo_order_map(rdo_order *order, rdo_books *books, rdo_entry *entry) {
    entry->map = false; /* while it waits it is an operation like others: later ones wait for it */
    if (!rdo_order_enter(order, books, entry)) return false;
    entry->map = true;
    order->maps++;
    rdo_condition_tell(&books->changed); /* those that wait for it are refused instead */
    return true;
}

bool rdo_order_is_busy(const rdo_order *order, rdo_extent bytes) {
    for (const rdo_entry *entry = order->first; entry != NULL; entry = entry->next) {
        if (entry->map) continue; /* no work: who maps a block and then waits for it must not wait for himself */
        if (rdo_extents_meet(&bytes, 1, entry->reads, entry->read_count) ||
            rdo_extents_meet(&bytes, 1, entry->writes, entry->write_count)) {
            return true;
        }
    }
    return false;
}

void rdo_order_wait_idle(rdo_order *order, const rdo_memory *memory) {
    rdo_books *books = rdo_memory_books(memory);
    rdo_extent bytes = {memory->address, memory->address + memory->size};
    const rdo_store *home = atomic_load_explicit(&memory->home, memory_order_relaxed);
    atomic_fetch_add_explicit(&order->fast_waiters, 1, memory_order_seq_cst);
    while (rdo_order_is_busy(order, bytes) || atomic_load_explicit(&home->fast, memory_order_seq_cst) != 0) {
        wait_for_change(order, books);
    }
    atomic_fetch_sub_explicit(&order->fast_waiters, 1, memory_order_seq_cst);
}

bool rdo_order_is_queued(const rdo_order *order, const rdo_extent *bytes, size_t count) {
    for (const rdo_entry *entry = order->first; entry != NULL; entry = entry->next) {
        if (!entry->queued) continue;
        if (rdo_extents_meet(bytes, count, entry->reads, entry->read_count) ||
            rdo_extents_meet(bytes, count, entry->writes, entry->write_count)) {
            return true;
        }
    }
    return false;
}

void rdo_order_wait_change(rdo_order *order, rdo_books *books) {
    /* Counted, so that whatever leaves says so. */
    atomic_fetch_add_explicit(&order->fast_waiters, 1, memory_order_seq_cst);
    wait_for_change(order, books);
    atomic_fetch_sub_explicit(&order->fast_waiters, 1, memory_order_seq_cst);
}

void rdo_order_wake(rdo_books *books) {
    rdo_lock_take(&books->lock);
    rdo_condition_tell(&books->changed);
    rdo_lock_give(&books->lock);
}
