// What the recorder uses of CPython, declared by hand: one library serves 3.8 to 3.14, and needs no
// headers of Python.
#pragma once

#include <cstddef>
#include <cstdint>

// CPython's own names. All of the functions have been exported since 3.8; what came later, or is
// private, is looked for when it is needed (late.h). Objects are those of builds with a global
// interpreter lock: the hook loads the library into no other.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier,bugprone-dynamic-static-initializers,cppcoreguidelines-avoid-non-const-global-variables)
extern "C" {

struct PyTypeObject;

struct PyObject {
  std::intptr_t ob_refcnt;
  PyTypeObject* ob_type;
};

using PyCFunction = PyObject* (*)(PyObject*, PyObject*);

struct PyMethodDef {
  const char* ml_name;
  PyCFunction ml_meth;
  int ml_flags;
  const char* ml_doc;
};

/// The beginning of a function of C: builtin_function_or_method.
struct PyCFunctionObject {
  PyObject ob_base;
  PyMethodDef* m_ml;
  PyObject* m_self;
  PyObject* m_module;
};

/// The beginning of a method of a type of C that is not bound yet: method_descriptor.
struct PyMethodDescrObject {
  PyObject ob_base;
  PyTypeObject* d_type;
  PyObject* d_name;
  PyObject* d_qualname;
  PyMethodDef* d_method;
};

struct PyModuleDef_Base {
  PyObject ob_base;
  PyObject* (*m_init)();
  std::intptr_t m_index;
  PyObject* m_copy;
};

struct PyModuleDef {
  PyModuleDef_Base m_base;
  const char* m_name;
  const char* m_doc;
  std::intptr_t m_size;
  PyMethodDef* m_methods;
  void* m_slots;
  void* m_traverse;
  void* m_clear;
  void* m_free;
};

struct PyMemberDef {
  const char* name;
  int type;
  std::intptr_t offset;
  int flags;
  const char* doc;
};

/// member_descriptor: a field of objects of a type of C.
struct PyMemberDescrObject {
  PyObject ob_base;
  PyTypeObject* d_type;
  PyObject* d_name;
  PyObject* d_qualname;
  PyMemberDef* d_member;
};

struct PyType_Slot {
  int slot;
  void* function;
};

struct PyType_Spec {
  const char* name;
  int basicsize;
  int itemsize;
  unsigned int flags;
  PyType_Slot* slots;
};

struct PyFrameObject;
struct PyThreadState;
struct PyInterpreterState;
/// PEP 523; what it evaluates is a PyFrameObject up to 3.10, and no object from 3.11 on.
using PyFrameEvaluation = PyObject* (*)(PyThreadState*, void*, int);
using Py_tracefunc = int (*)(PyObject*, PyFrameObject*, int, PyObject*);

extern PyObject _Py_NoneStruct;
extern PyTypeObject PyCFunction_Type;
extern PyTypeObject PyMethodDescr_Type;
extern PyTypeObject PyModule_Type;
extern PyTypeObject PyUnicode_Type;
extern PyObject* PyExc_RuntimeError;

void Py_IncRef(PyObject*);
void Py_DecRef(PyObject*);

PyObject* Py_BuildValue(const char*, ...);
int PyArg_ParseTuple(PyObject*, const char*, ...);
PyObject* PyList_New(std::intptr_t);
int PyList_Append(PyObject*, PyObject*);
int PyList_SetItem(PyObject*, std::intptr_t, PyObject*);
char* PyBytes_AsString(PyObject*);
std::intptr_t PyBytes_Size(PyObject*);
PyObject* PyBytes_FromStringAndSize(const char*, std::intptr_t);
long PyLong_AsLong(PyObject*);
PyObject* PyUnicode_FromFormat(const char*, ...);
int PyUnicode_CompareWithASCIIString(PyObject*, const char*);
PyObject* PyObject_Repr(PyObject*);
PyObject* PyObject_GetAttrString(PyObject*, const char*);
const char* Py_GetVersion();
const char* PyModule_GetName(PyObject*);
int PyType_IsSubtype(PyTypeObject*, PyTypeObject*);
PyCFunction PyCFunction_GetFunction(PyObject*);
void PyErr_Clear();
PyObject* PyErr_Occurred();
void PyErr_SetString(PyObject*, const char*);
PyObject* PyErr_NoMemory();

PyObject* PyModule_Create2(PyModuleDef*, int);
int PyModule_AddObject(PyObject*, const char*, PyObject*);
PyObject* PyType_FromSpec(PyType_Spec*);
PyObject* _PyObject_New(PyTypeObject*);
PyObject* PyObject_CallFunctionObjArgs(PyObject*, ...);
PyObject* PyVectorcall_Call(PyObject*, PyObject*, PyObject*);

int PyCode_Addr2Line(PyObject*, int);
int PyFrame_GetLineNumber(PyFrameObject*);
void PyEval_SetProfile(Py_tracefunc, PyObject*);
void PyEval_SetTrace(Py_tracefunc, PyObject*);
PyThreadState* PyThreadState_Get();
PyInterpreterState* PyInterpreterState_Main();
PyThreadState* PyInterpreterState_ThreadHead(PyInterpreterState*);
PyThreadState* PyThreadState_Next(PyThreadState*);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier,bugprone-dynamic-static-initializers,cppcoreguidelines-avoid-non-const-global-variables)

namespace fathom::python {

inline constexpr int kStableAbi = 3;      ///< PYTHON_ABI_VERSION of the limited API.
inline constexpr int kNoArguments = 0x4;  ///< METH_NOARGS.
inline constexpr int kArguments = 0x1;    ///< METH_VARARGS.

/// None, to be returned. Of 3.12 and later it is immortal; before, its count grows.
inline PyObject* none() {
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

}  // namespace fathom::python
