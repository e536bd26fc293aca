// A user's program in C++17: fills a buffer and reads it back.
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>

#include <rondo/rondo.h>

namespace {

using stream_ptr = std::unique_ptr<rondo_stream, decltype(&rondo_stream_release)>;
using device_ptr = std::unique_ptr<rondo_device, decltype(&rondo_device_release)>;

void check(rondo_status status) {
    if (status == RONDO_OK)
        return;
    std::array<char, 1024> story;
    rondo_fault_describe(status, story.data(), story.size());
    std::cerr << story.data() << '\n';
    std::exit(EXIT_FAILURE);
}

device_ptr open_device(const char *name) {
    rondo_device *device = nullptr;
    check(rondo_device_open(name, nullptr, &device));
    return {device, rondo_device_release};
}

stream_ptr create_stream(rondo_device *device) {
    rondo_stream *stream = nullptr;
    check(rondo_stream_create(device, &stream));
    return {stream, rondo_stream_release};
}

} // namespace

int main() {
    const device_ptr device = open_device("cpu");
    const stream_ptr stream = create_stream(device.get());
    rondo_buffer buffer = RONDO_NO_BUFFER;
    check(rondo_buffer_create(stream.get(), 64, RONDO_USAGE_GENERAL, &buffer));
    const unsigned char seven = 7;
    check(rondo_fill(stream.get(), rondo_whole(buffer), &seven, 1, nullptr));
    std::array<unsigned char, 64> bytes{};
    check(rondo_read(stream.get(), rondo_whole(buffer), bytes.data(), nullptr));
    rondo_buffer_release(buffer);
    for (const unsigned char byte : bytes) {
        if (byte != seven)
            return EXIT_FAILURE;
    }
    std::cout << "rondo " << rondo_version_string() << " from C++\n";
    return EXIT_SUCCESS;
}
