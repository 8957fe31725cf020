/**
 * A gzip stream whose parts are compressed once for all clients: each part is a piece of its own, ended at a byte, so
 * that a stream may begin with any of them. It has no end: what ends it is the connection.
 */

import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

/** Method deflate, no time, no name, an unknown system. */
export const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])

/** A large chunk: the result is rarely put together from several. */
const OPTIONS = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 128 * 1024 }

/** Kept compressed, because a sixteenth is left of events; clients that cannot decompress are rare. */
export class StreamPart {
  readonly compressed: Buffer
  /** In bytes, not compressed. */
  readonly length: number
  #plain: Buffer | undefined

  private constructor(compressed: Buffer, length: number) {
    this.compressed = compressed
    this.length = length
  }

  /** `plain` may be used for something else afterwards. */
  static of(plain: Buffer): StreamPart {
    return new StreamPart(deflateRawSync(plain, OPTIONS), plain.length)
  }

  static join(parts: readonly StreamPart[]): StreamPart {
    const [only] = parts
    if (only && parts.length === 1) return only
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    return new StreamPart(Buffer.concat(parts.map(({ compressed }) => compressed)), length)
  }

  get plain(): Buffer {
    this.#plain ??= inflateRawSync(this.compressed, OPTIONS)
    return this.#plain
  }
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
