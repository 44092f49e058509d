// Looks names up among those of the program.
#include "capture/python/late.h"

#include <dlfcn.h>

namespace fathom::python {
namespace {

template <typename Pointer>
void look(const char* name, Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(RTLD_DEFAULT, name));
}

Late look_all() {
  Late found;
  look("PyFrame_GetCode", found.frame_code);
  look("_PyEval_SetProfile", found.set_profile);
  look("_PyEval_SetTrace", found.set_trace);
  look("_PyType_Lookup", found.type_lookup);
  look("_PyInterpreterState_GetEvalFrameFunc", found.get_evaluation);
  look("_PyInterpreterState_SetEvalFrameFunc", found.set_evaluation);
  look("_PyEval_EvalFrameDefault", found.evaluate_frame);
  look("pthread_getattr_np", found.attributes_of);
  look("pthread_attr_getstack", found.stack_of);
  look("PyCMethod_Type", found.bound_method_of_c);
  return found;
}

}  // namespace

const Late& late() {
  static const Late found = look_all();
  return found;
}

}  // namespace fathom::python
