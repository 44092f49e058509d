// What secrets look like: their names, and values of known shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fathom::capture {

/// How much a name says that its value is secret.
enum class Secrecy : std::uint8_t {
  none,
  may_be,   ///< "key" alone: a key of a dictionary as likely as one of a service.
  certain,  ///< "api_key", "token", "PGPASSWORD".
};

/// Of a variable, an option or a member: HF_TOKEN, --api-key, trainer.hub_token. Words that people
/// tune (max_tokens, key_padding, --tokenizer) hold none.
Secrecy secrecy_of(std::string_view name);

/// Of a parameter of a URL: besides such names those that are secret there alone, as what a login
/// hands over: ?code=, session=, ticket=, #id_token=.
Secrecy secrecy_of_parameter(std::string_view name);

/// Whether what stands behind "-p", which is no password of many programs, looks like one: letters
/// with digits, capitals or signs among them. Numbers, places, lists, types, names of small letters
/// and texts hold none.
bool looks_like_password(std::string_view value);

/// The length of a secret of known shape at the start of `text`, which must be that of a word:
/// hf_…, sk-…, AKIA…, ghp_…, a JSON web token, 40 hexadecimal digits; else 0.
std::size_t shaped_secret(std::string_view text);

/// A letter, a digit, "_" or "-".
bool is_word(char c);

}  // namespace fathom::capture
