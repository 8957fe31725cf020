/** Streams the output of a running command: whole characters, and a limited amount per poll. */

import type { FileHandle } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

/** At most this much is streamed per poll; the rest is skipped, but is still part of the command's result. */
const MAX_BYTES = 16 * 1024

export class OutputTail {
  readonly #output: FileHandle
  readonly #onText: (text: string) => void
  readonly #decoder = new StringDecoder('utf8')
  #at = 0

  constructor(output: FileHandle, onText: (text: string) => void) {
    this.#output = output
    this.#onText = onText
  }

  async poll(): Promise<void> {
    const { size } = await this.#output.stat()
    if (size <= this.#at) return
    const { bytesRead, buffer } = await this.#output.read(
      Buffer.alloc(Math.min(size - this.#at, MAX_BYTES)),
      0,
      undefined,
      this.#at,
    )
    this.#at = bytesRead < MAX_BYTES ? this.#at + bytesRead : size
    const text = this.#decoder.write(buffer.subarray(0, bytesRead)).replaceAll('\0', '\ufffd')
    if (text !== '') this.#onText(text)
  }
}
