/**
 * A gzip stream whose parts are compressed once for all clients: each part is a piece of its own, ended at a byte, so
 * that a stream may begin with any of them. It has no end: what ends it is the connection.
 */

import { constants, createDeflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib'

/** Method deflate, no time, no name, an unknown system. */
export const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])

/** A large chunk: the result is rarely put together from several. */
const OPTIONS = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 128 * 1024 }

/** Less is compressed sooner than another thread is told to. */
const THREAD_BYTES = 16 * 1024

/** Kept compressed, because a sixteenth is left of events; clients that cannot decompress are rare. */
export class StreamPart {
  readonly compressed: Buffer
  /** In bytes, not compressed. */
  readonly length: number
  #plain: Buffer | undefined

  constructor(compressed: Buffer, length: number) {
    this.compressed = compressed
    this.length = length
  }

  /** `plain` may be used for something else afterwards. */
  static of(plain: Buffer): StreamPart {
    return new StreamPart(copyOf(deflateRawSync(plain, OPTIONS)), plain.length)
  }

  static join(parts: readonly StreamPart[]): StreamPart {
    const [only] = parts
    if (only && parts.length === 1) return only
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    return new StreamPart(copyOf(...parts.map(({ compressed }) => compressed)), length)
  }

  get plain(): Buffer {
    this.#plain ??= copyOf(inflateRawSync(this.compressed, OPTIONS))
    return this.#plain
  }
}

/**
 * Compresses parts in another thread. Its state (256 kB) is used for all of them, because a new one for each would cost
 * half as much as compressing does.
 */
export class PartCompressor {
  /** A full flush after each part forgets what came before, so that later parts do not refer to it. */
  readonly #deflate = createDeflateRaw({ ...OPTIONS, flush: constants.Z_FULL_FLUSH })
  #chunks: Buffer[] = []
  #previous: Promise<unknown> = Promise.resolve()

  constructor() {
    this.#deflate.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
  }

  /** Contract: `plain` must not change until it resolves. Parts can be read without those before them. */
  async compress(plain: Buffer): Promise<StreamPart> {
    if (plain.length < THREAD_BYTES) return StreamPart.of(plain)
    const compressed = this.#previous.then(() => this.#compress(plain))
    this.#previous = compressed.catch(() => {})
    return new StreamPart(await compressed, plain.length)
  }

  #compress(plain: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#deflate.once('error', reject)
      this.#deflate.write(plain, (error) => {
        this.#deflate.off('error', reject)
        if (error) reject(error)
        else resolve(copyOf(...this.#chunks.splice(0)))
      })
    })
  }
}

/** Contract: the bytes, in memory of their own. A part of a larger buffer (of zlib, of Node's pool) keeps it whole. */
function copyOf(...pieces: readonly Buffer[]): Buffer {
  const copy = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) at += piece.copy(copy, at)
  return copy
}

/** Contract: whether the header `Accept-Encoding` allows gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  const codings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.replaceAll(/\s/g, '').split(';'))
  const [, weight = 'q=1'] = codings.find(([name]) => name === 'gzip' || name === 'x-gzip') ?? ['', 'q=0']
  return !/^q=0(\.0*)?$/.test(weight)
}
