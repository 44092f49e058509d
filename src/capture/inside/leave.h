// What was recorded is written before _exit() ends the program.
#pragma once

namespace fathom::inside {

/// Finds libc's _exit(). Takes the loader's lock: to be called where none of ours is held.
void find_exit();
/// From now on _exit(), and with it _Exit(), quick_exit() and what Python's os._exit() calls, have
/// the recorder write first. Where find_exit() found nothing that can be changed, nothing happens.
void catch_exit();

}  // namespace fathom::inside
