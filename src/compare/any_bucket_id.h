// Names for buckets that stay the same from version to version.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compare/profile.h"

namespace fathom {

/// "device:compute", "host:forward", "outside".
inline std::string any_bucket_id(AnyBucket bucket) {
  if (bucket == AnyBucket::outside()) return "outside";
  return (bucket.busy() || bucket.idle() ? "device:" : "host:") + std::string(bucket.name());
}

/// The bucket of that id; unset where there is none.
inline std::optional<AnyBucket> any_bucket_of(std::string_view id) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const AnyBucket bucket(static_cast<Bucket>(i));
    if (any_bucket_id(bucket) == id) return bucket;
  }
  for (std::size_t i = 0; i < kHostBuckets; ++i) {
    const AnyBucket bucket(static_cast<HostBucket>(i));
    if (any_bucket_id(bucket) == id) return bucket;
  }
  return id == "outside" ? std::optional(AnyBucket::outside()) : std::nullopt;
}

}  // namespace fathom
