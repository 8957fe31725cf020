/** Splits the chunks of a stream into lines. Its memory grows with the bytes of the open line, not with the chunks. */

const NEW_LINE = 10
const NOTHING = Buffer.alloc(0)

export class LineSplitter {
  #buffer = NOTHING
  #length = 0

  /** Bytes of the line that is not finished. */
  get length(): number {
    return this.#length
  }

  /** Contract: the lines that the chunk finishes. */
  *push(chunk: Buffer): Generator<Buffer> {
    let from = 0
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      const part = chunk.subarray(from, end)
      from = end + 1
      yield this.#length === 0 ? part : this.#finish(part)
    }
    this.#append(chunk.subarray(from))
  }

  #finish(part: Buffer): Buffer {
    this.#append(part)
    const line = this.#buffer.subarray(0, this.#length)
    this.#buffer = NOTHING
    this.#length = 0
    return line
  }

  #append(part: Buffer): void {
    const length = this.#length + part.length
    if (length > this.#buffer.length) {
      // Doubled, so that many small chunks are not copied again and again.
      const larger = Buffer.allocUnsafe(2 * length)
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    part.copy(this.#buffer, this.#length)
    this.#length = length
  }
}
