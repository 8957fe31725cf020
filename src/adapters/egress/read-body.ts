/** Reads a response body, decompressed, up to a limit of bytes. Decompression stops at the limit (zip bombs). */

import type { Duplex, Readable } from 'node:stream'
import zlib from 'node:zlib'
import { TirelessError } from '../../domain/error.ts'

interface LimitedBody {
  readonly bytes: Buffer
  readonly cut: boolean
}

const DECOMPRESSORS: Readonly<Record<string, () => Duplex>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
}

/** `encoding`: the `content-encoding` header. Several encodings are refused: only a zip bomb needs them. */
export function decompress(from: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? 'identity'
  const decompressor = DECOMPRESSORS[name]
  if (!decompressor && name !== 'identity' && name !== '')
    throw new TirelessError('tool_failed', {
      what: 'unexpected Content-Encoding',
      got: name.slice(0, 40),
    })
  return decompressor ? pipeBoth(from, decompressor()) : from
}

export async function readLimitedBody(
  from: Readable,
  encoding: string | undefined,
  maxBytes: number,
): Promise<LimitedBody> {
  const source = decompress(from, encoding)
  const kept: Buffer[] = []
  let left = maxBytes
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk)
      kept.push(bytes.subarray(0, left))
      left -= bytes.length
      if (left < 0) break
    }
  } finally {
    source.destroy()
    from.destroy()
  }
  return { bytes: Buffer.concat(kept), cut: left < 0 }
}

/** Pipes `from` into `into`; an error of `from` also ends `into`, and the end of `into` also ends `from`. */
function pipeBoth(from: Readable, into: Duplex): Duplex {
  from.once('error', (error) => into.destroy(error))
  into.once('close', () => from.destroy())
  return from.pipe(into)
}
