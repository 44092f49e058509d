// Secrets in environment and command line do not get into a manifest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::capture {

/// What stands for a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

/// True where a variable or option of this name holds a secret: *_TOKEN, API_KEY, --password …
bool names_secret(std::string_view name);

/// The text with what looks like a secret replaced, wherever it stands in it, in a script too:
/// values of known shape (capture/launcher/secrets.h), user:password@ before a host, private keys,
/// what follows a name that names a secret as name=value, "name": "value", --name value, and
/// headers. At most 64 KiB of it.
std::string redact(std::string_view text);

/// The value of the environment variable `name`, redacted.
std::string redact_variable(std::string_view name, std::string_view value);

/// A command line: also the word after an option that names a secret (--password X), and passwords
/// of curl -u and sshpass -p; behind another program's -p what looks like a password.
std::vector<std::string> redact_command(const std::vector<std::string>& words);

/// The same as one line that a shell reads as words: command_line().
std::string redacted_line(const std::vector<std::string>& words);

}  // namespace fathom::capture
