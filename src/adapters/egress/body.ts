/** A body, unpacked and no longer than so many bytes: what a few of them would unfold to is never made. */

import type { Duplex, Readable } from 'node:stream'
import zlib from 'node:zlib'
import { TirelessError } from '../../domain/error.ts'

export interface Taken {
  readonly bytes: Buffer
  readonly cut: boolean
}

const UNPACKERS: Readonly<Record<string, () => Duplex>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
}

/** `encoding`: of the header `content-encoding`. Only one is unpacked: whoever packs a thing several times wants it to be large. */
export function unpacked(from: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? 'identity'
  const unpacker = UNPACKERS[name]
  if (!unpacker && name !== 'identity' && name !== '')
    throw new TirelessError('tool_failed', {
      what: 'the answer is packed in a way that nobody asked for',
      got: name.slice(0, 40),
    })
  return unpacker ? piped(from, unpacker()) : from
}

export async function bodyOf(from: Readable, encoding: string | undefined, maxBytes: number): Promise<Taken> {
  const source = unpacked(from, encoding)
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

/** What breaks at one end breaks at the other, too. */
function piped(from: Readable, into: Duplex): Duplex {
  from.once('error', (error) => into.destroy(error))
  into.once('close', () => from.destroy())
  return from.pipe(into)
}
