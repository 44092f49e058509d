// A diagnosis as HTML that asks no server and runs no script: what a notebook shows.
#pragma once

#include <string>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// A whole document: what the capture lacks, verdict, accounting and findings. The page of
/// server/page_file has all the rest.
std::string render_diagnosis_html(const Diagnosis& diagnosis);

}  // namespace fathom
