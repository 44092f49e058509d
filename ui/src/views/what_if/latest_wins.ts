// Of many questions in a row, one is under way at a time, and the last one is always asked.
export class LatestWins<Q, A> {
  private running = false;
  private next: { question: Q } | null = null;
  private ended = false;

  constructor(
    private readonly ask: (question: Q) => Promise<A>,
    private readonly onAnswer: (answer: A, question: Q) => void,
  ) {}

  put(question: Q): void {
    this.next = { question };
    if (!this.running) void this.run();
  }

  end(): void {
    this.ended = true;
    this.next = null;
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.next) {
      const { question } = this.next;
      this.next = null;
      const answer = await this.ask(question);
      if (this.ended) break;
      this.onAnswer(answer, question);
    }
    this.running = false;
  }
}
