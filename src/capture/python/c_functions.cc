// Names functions of C as cProfile does, so that profiles can be compared.
#include "capture/python/c_functions.h"

#include <cstring>

#include "capture/python/late.h"

namespace fathom::python {
namespace {

bool is_c_function(const PyObject* object) {
  return object->ob_type == &PyCFunction_Type ||
         (late().bound_method_of_c != nullptr && object->ob_type == late().bound_method_of_c);
}

PyTypeObject* type_of(const PyObject* object) { return object->ob_type; }

PyObject* label_of_builtin(const PyMethodDef& method, PyObject* module) {
  if (module != nullptr && type_of(module) == &PyUnicode_Type) {
    if (PyUnicode_CompareWithASCIIString(module, "builtins") != 0)
      return PyUnicode_FromFormat("<%U.%s>", module, method.ml_name);
  } else if (module != nullptr && type_of(module) == &PyModule_Type) {
    const char* const name = PyModule_GetName(module);
    if (name != nullptr && std::strcmp(name, "builtins") != 0)
      return PyUnicode_FromFormat("<%s.%s>", name, method.ml_name);
    PyErr_Clear();
  }
  return PyUnicode_FromFormat("<%s>", method.ml_name);
}

/// What the type of `self` has under that name, as it is shown.
PyObject* label_of_method(const PyMethodDef& method, PyObject* self, PyObject* module) {
  if (late().type_lookup != nullptr) {
    PyObject* const name = PyUnicode_FromFormat("%s", method.ml_name);
    PyObject* const found = name == nullptr ? nullptr : late().type_lookup(type_of(self), name);
    PyObject* label = nullptr;
    if (found != nullptr) {
      Py_IncRef(found);
      label = PyObject_Repr(found);
      Py_DecRef(found);
    }
    if (name != nullptr) Py_DecRef(name);
    if (label != nullptr) return label;
    PyErr_Clear();
  }
  if (module != nullptr && type_of(module) == &PyUnicode_Type)
    return PyUnicode_FromFormat("<built-in method %U.%s>", module, method.ml_name);
  return PyUnicode_FromFormat("<built-in method %s>", method.ml_name);
}

}  // namespace

const PyMethodDef* definition_of(PyObject* callable, PyObject* self) {
  if (is_c_function(callable)) return reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  if (callable->ob_type != &PyMethodDescr_Type || self == nullptr) return nullptr;
  const auto& method = *reinterpret_cast<PyMethodDescrObject*>(callable);
  // Called with something else it raises, before anything is called.
  if (self->ob_type != method.d_type && PyType_IsSubtype(self->ob_type, method.d_type) == 0)
    return nullptr;
  return method.d_method;
}

void* label_of_c_function(const void* definition, void* called) {
  const auto& method = *static_cast<const PyMethodDef*>(definition);
  const auto& [callable, self] = *static_cast<const CalledFunction*>(called);
  PyObject* label = nullptr;
  if (is_c_function(callable)) {
    const auto& function = *reinterpret_cast<const PyCFunctionObject*>(callable);
    label = function.m_self == nullptr
                ? label_of_builtin(method, function.m_module)
                : label_of_method(method, function.m_self, function.m_module);
  } else {
    label = label_of_method(method, self, nullptr);
  }
  if (label == nullptr) PyErr_Clear();
  return label;
}

bool knows_c_functions(PyObject* builtin, PyObject* method) {
  if (!is_c_function(builtin) || method->ob_type != &PyMethodDescr_Type) return false;
  const PyMethodDef* const function = reinterpret_cast<PyCFunctionObject*>(builtin)->m_ml;
  if (function == nullptr || function->ml_meth != PyCFunction_GetFunction(builtin)) return false;
  // Bound, the method is a function of C with the same definition.
  PyObject* const text = PyUnicode_FromFormat("text");
  if (text == nullptr) return false;
  PyObject* const bound = PyObject_GetAttrString(text, "upper");
  const bool same = bound != nullptr && is_c_function(bound) &&
                    reinterpret_cast<PyCFunctionObject*>(bound)->m_ml ==
                        reinterpret_cast<PyMethodDescrObject*>(method)->d_method;
  if (bound != nullptr) Py_DecRef(bound);
  Py_DecRef(text);
  PyErr_Clear();
  return same;
}

}  // namespace fathom::python
