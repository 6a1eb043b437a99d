/** Longer than the time between finding an image and its name appearing in a status or Job, in milliseconds. */
const keptMs = 15 * 60_000;

/** Images, `REPOSITORY@DIGEST`, that a build has just found, which must not be deleted before an object names them. */
export class FoundImages {
  readonly #since = new Map<string, number>();

  add(image: string, now: Date): void {
    this.#since.delete(image);
    this.#since.set(image, now.getTime());
    for (const [oldest, since] of this.#since) {
      if (now.getTime() - since < keptMs) break;
      this.#since.delete(oldest);
    }
  }

  has(image: string, now: Date): boolean {
    const since = this.#since.get(image);
    return since !== undefined && now.getTime() - since < keptMs;
  }
}
