// An expected failure is a value, not an exception.
export interface Failure {
  readonly code: string;
  readonly message: string;
}

export type Result<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Failure };

export const okay = <T>(value: T): Result<T> => ({ ok: true, value });
export const failed = (code: string, message: string): { ok: false; error: Failure } => ({
  ok: false,
  error: { code, message },
});
