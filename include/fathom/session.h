// Begins and ends recording where `fathom run` does not do it.
#pragma once

#include <string_view>

namespace fathom {

/// Begins to record, or goes on after stop(). Into `folder`, made where it is missing; without one
/// into the session that `fathom run` has set up, FATHOM_SESSION. The folder is chosen once in
/// a process: later ones are ignored. False where nothing can be recorded: no folder, or no file
/// can be written there.
///
/// Not needed under `fathom run`, which records from the first annotation on, unless it was
/// started with --profile-from-start=off.
bool start(std::string_view folder = {}) noexcept;

/// Records nothing more until start(). What was begun may still end.
void stop() noexcept;

/// True while annotations are recorded.
bool recording() noexcept;

/// Hands everything recorded so far to the operating system. Needed before exec() only: at the end
/// of the program, by _exit() too, and when a signal ends it, it is done; a kill loses half a
/// second at most. False when something could not be written.
bool flush() noexcept;

/// Leaves signals alone: what was recorded in the last half second before a crash may be lost.
/// Without this, the signals that end a program and for which it has no handler
/// when recording begins get one, which writes the recording and then lets the signal do its work.
/// Call before anything is recorded.
void keep_signals() noexcept;

}  // namespace fathom
