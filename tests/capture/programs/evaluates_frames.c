/* Frame evaluation functions (PEP 523) of a program. */
typedef void *(*Evaluation)(void *, void *, int);
extern void *_PyEval_EvalFrameDefault(void *, void *, int);
extern void *PyInterpreterState_Main(void);
extern Evaluation _PyInterpreterState_GetEvalFrameFunc(void *);
extern void _PyInterpreterState_SetEvalFrameFunc(void *, Evaluation);

static Evaluation before;

static void *pass(void *state, void *frame, int throws) { return before(state, frame, throws); }
static void *alone(void *state, void *frame, int throws) {
  return _PyEval_EvalFrameDefault(state, frame, throws);
}

void set(int how) {
  void *main = PyInterpreterState_Main();
  before = _PyInterpreterState_GetEvalFrameFunc(main);
  if (how == 1) _PyInterpreterState_SetEvalFrameFunc(main, pass);
  if (how == 2) _PyInterpreterState_SetEvalFrameFunc(main, alone);
  if (how == 3) _PyInterpreterState_SetEvalFrameFunc(main, _PyEval_EvalFrameDefault);
}
