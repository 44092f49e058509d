// All of the SDK.
#pragma once

#include "fathom/annotate.h"
#include "fathom/counter.h"
#include "fathom/names.h"
#include "fathom/profile.h"
#include "fathom/session.h"
#include "fathom/step.h"
