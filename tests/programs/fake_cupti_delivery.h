// How the fake CUPTI asks for buffers and returns them. From version 13 on each thread has a
// buffer of its own. CUPTI_FAKE_DELIVERY_MS: they are returned by a thread of CUPTI's, so much
// later; else at once. CUPTI_FAKE_LATE: unless it is forced, a flush returns none, as on a GPU that
// always has work queued. A buffer with a record that is not complete is returned by a flush that
// is forced only. CUPTI_FAKE_WHOLE: buffers are used to their end, else few records each.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cupti.h>

namespace fathom::test {

/// All of them with the fake's lock held.
void set_buffer_callbacks(CUpti_BuffersCallbackRequestFunc request,
                          CUpti_BuffersCallbackCompleteFunc complete);
bool has_buffer_callbacks();
/// Whether the program promises buffers of zeros.
void expect_zeros(bool promised);
bool expects_zeros();
/// Into the buffer at hand; where it is there.
void* put_record(const void* record, std::size_t bytes, bool complete);
/// One that was not: its buffer may be returned as soon as it has no other such record.
void complete_record(const void* record);
/// All that the device had to do is done, but what runs without end: a flush may return it.
void settle_records();
/// What is in buffers is lost, where no flush has read it since it was done.
void forget_records();
/// How many different buffers CUPTI was given.
std::size_t different_buffers();
/// Until none is on its way any more.
void wait_for_deliveries();
void flush_buffers(bool forced);

}  // namespace fathom::test
