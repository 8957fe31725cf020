/** What a running command writes, as it writes it: whole characters, and no more than somebody can follow. */

import type { FileHandle } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

/** Per look; what is beyond it is in the result. */
const MOST_BYTES = 16 * 1024

export class Listener {
  readonly #output: FileHandle
  readonly #heard: (text: string) => void
  readonly #decoder = new StringDecoder('utf8')
  #at = 0

  constructor(output: FileHandle, heard: (text: string) => void) {
    this.#output = output
    this.#heard = heard
  }

  async listen(): Promise<void> {
    const { size } = await this.#output.stat()
    if (size <= this.#at) return
    const { bytesRead, buffer } = await this.#output.read(
      Buffer.alloc(Math.min(size - this.#at, MOST_BYTES)),
      0,
      undefined,
      this.#at,
    )
    this.#at = bytesRead < MOST_BYTES ? this.#at + bytesRead : size
    const text = this.#decoder.write(buffer.subarray(0, bytesRead)).replaceAll('\0', '\ufffd')
    if (text !== '') this.#heard(text)
  }
}
