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
/// The program promises buffers of zeros.
void expect_zeros();
/// Into the buffer at hand; where it is there.
void* put_record(const void* record, std::size_t bytes, bool complete);
/// One that was not: its buffer may be returned as soon as it has no other such record.
void complete_record(const void* record);
/// What is in buffers and was not returned is lost.
void forget_records();
void flush_buffers(bool forced);

}  // namespace fathom::test
