// The only place that asks the server, or the answers that the page carries itself.
import { failed, okay, type Result } from '../base/result';
import type { Carried, CarriedAnswer } from './answers';
import { exactJson } from './exact_json';
import { withInput } from './urls';

export type Connection = 'connected' | 'lost' | 'carried';

const SESSION = 'api/session';

interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string };
}

/** Cells of tables are shown and copied digit by digit; all other numbers are reckoned with. */
const parsed = (path: string, text: string): unknown =>
  path.startsWith('api/reports/') ? exactJson(text) : JSON.parse(text);

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

export class TraceClient {
  /** Told when the server stops or begins to answer. */
  onConnection: (state: Connection) => void = () => {};
  /** Which of several recordings is asked about: its index, or "" for the first. */
  input = '';
  private state_: Connection;

  constructor(private readonly carried_: Carried | null) {
    this.state_ = carried_ ? 'carried' : 'connected';
  }

  /** The same server, or file, asked about one of its recordings whatever is looked at elsewhere. */
  about(input: string): TraceClient {
    const other = new TraceClient(this.carried_);
    other.input = input;
    other.onConnection = (state) => this.turn_(state);
    return other;
  }

  get connection(): Connection {
    return this.state_;
  }

  /** What a page in a file says it leaves out. */
  get leftOut(): readonly string[] {
    return this.carried_?.leftOut ?? [];
  }

  json<T>(question: string, signal?: AbortSignal): Promise<Result<T>> {
    const read = async (answer: Response, path: string): Promise<T> =>
      parsed(path, await answer.text()) as T;
    return this.read_(question, signal, read, 'no JSON');
  }

  binary(question: string, signal?: AbortSignal): Promise<Result<ArrayBuffer>> {
    return this.read_(question, signal, (answer) => answer.arrayBuffer(), 'cut off');
  }

  private async read_<T>(
    question: string,
    signal: AbortSignal | undefined,
    read: (answer: Response, path: string) => Promise<T>,
    otherwise: string,
  ): Promise<Result<T>> {
    const path = withInput(question, this.input);
    const answer = this.carried_
      ? this.fromFile_(path, this.carried_.find(path))
      : await this.ask_(path, signal);
    if (!answer.ok) return answer;
    try {
      return okay(await read(answer.value, path));
    } catch (error) {
      const code = nameOf(error) === 'AbortError' ? 'aborted' : 'unreadable';
      return failed(code, `${path}: ${otherwise}`);
    }
  }

  private fromFile_(path: string, answer: CarriedAnswer | undefined): Result<Response> {
    if (!answer) {
      return failed(
        'left_out',
        `This page is a file, and this is not in it: open the recording with fathom view. (${path})`,
      );
    }
    if (answer.status === 200) return okay(new Response(answer.bytes));
    const { error } = JSON.parse(new TextDecoder().decode(answer.bytes)) as ErrorAnswer;
    return failed(error.code, error.message);
  }

  private async ask_(path: string, signal?: AbortSignal): Promise<Result<Response>> {
    let response: Response;
    try {
      response = await fetch(path, signal ? { signal } : {});
    } catch (error) {
      if (nameOf(error) === 'AbortError') return failed('aborted', 'no longer needed');
      this.turn_('lost');
      return failed('unreachable', 'The server does not answer; is fathom view still running?');
    }
    // Of a server that was started again, this page's address is none: it knows no session under it.
    if (response.status !== 404) this.turn_('connected');
    else if (path === SESSION) this.turn_('lost');
    else void this.ask_(SESSION);
    if (response.ok) return okay(response);
    try {
      const { error } = (await response.json()) as ErrorAnswer;
      return failed(error.code, error.message);
    } catch {
      return failed(`http_${response.status}`, `The server answered ${response.status} to ${path}`);
    }
  }

  private turn_(state: Connection): void {
    if (state === this.state_) return;
    this.state_ = state;
    this.onConnection(state);
  }
}
