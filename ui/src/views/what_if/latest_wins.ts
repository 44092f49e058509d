// Of many questions in a row, one is under way at a time, and the last one is always asked. One that is under way is
// answered although newer ones wait: while a slider moves, numbers are to follow it.
export class LatestWins<Q, A> {
  private running_ = false;
  private next_: { question: Q } | null = null;
  private ended_ = false;
  private abort_ = new AbortController();

  constructor(
    private readonly ask_: (question: Q, signal: AbortSignal) => Promise<A>,
    private readonly onAnswer_: (answer: A, question: Q) => void,
  ) {}

  put(question: Q): void {
    this.next_ = { question };
    if (!this.running_) void this.run_();
  }

  /** Nothing is wanted any more: what is under way is cancelled, and not told. */
  clear(): void {
    this.next_ = null;
    this.abort_.abort();
    this.abort_ = new AbortController();
  }

  end(): void {
    this.ended_ = true;
    this.clear();
  }

  private async run_(): Promise<void> {
    this.running_ = true;
    while (this.next_) {
      const { question } = this.next_;
      this.next_ = null;
      const { signal } = this.abort_;
      const answer = await this.ask_(question, signal);
      if (this.ended_) break;
      if (!signal.aborted) this.onAnswer_(answer, question);
    }
    this.running_ = false;
  }
}
