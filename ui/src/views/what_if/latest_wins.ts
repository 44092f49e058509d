// Of many questions in a row, one is under way at a time, and the last one is always asked. One that is under way is
// answered although newer ones wait: while a slider moves, numbers are to follow it.
export class LatestWins<Q, A> {
  private running = false;
  private next: { question: Q } | null = null;
  private ended = false;
  private abort = new AbortController();

  constructor(
    private readonly ask: (question: Q, signal: AbortSignal) => Promise<A>,
    private readonly onAnswer: (answer: A, question: Q) => void,
  ) {}

  put(question: Q): void {
    this.next = { question };
    if (!this.running) void this.run();
  }

  /** Nothing is wanted any more: what is under way is cancelled, and not told. */
  clear(): void {
    this.next = null;
    this.abort.abort();
    this.abort = new AbortController();
  }

  end(): void {
    this.ended = true;
    this.clear();
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.next) {
      const { question } = this.next;
      this.next = null;
      const { signal } = this.abort;
      const answer = await this.ask(question, signal);
      if (this.ended) break;
      if (!signal.aborted) this.onAnswer(answer, question);
    }
    this.running = false;
  }
}
