// Opens an address in the user's browser.
#pragma once

#include <string>

namespace fathom::cli {

/// Is there a display on which a browser would show?
bool has_display();
/// Starts xdg-open and does not wait for it; without it nothing happens.
void open_browser(const std::string& url);

}  // namespace fathom::cli
