/**
 * A gzip stream whose parts are compressed once for all clients: each part is a piece of its own, ended at a byte, so
 * that a stream may begin with any of them. It has no end: what ends it is the connection.
 */

import { constants, deflateRawSync } from 'node:zlib'

/** Method deflate, no time, no name, an unknown system. */
export const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])

const OPTIONS = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH }

const compressed = new WeakMap<Buffer, Buffer>()

/** Contract: always the same buffer for the same buffer, which must not change any more. */
export function compressPart(part: Buffer): Buffer {
  const known = compressed.get(part)
  if (known) return known
  const made = deflateRawSync(part, OPTIONS)
  compressed.set(part, made)
  return made
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
