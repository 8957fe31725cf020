/** Reads and validates the content of a document file. Links are not followed. */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { MAX_DOCUMENT_BYTES } from '../../domain/document.ts'

export type DocumentFileContent =
  | { readonly kind: 'absent' }
  | { readonly kind: 'text'; readonly text: string }
  /** The content is not a valid document. */
  | { readonly kind: 'torn'; readonly why: string }

const PIECE_BYTES = 16 * 1024

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export function isSameContent(a: DocumentFileContent, b: DocumentFileContent): boolean {
  return a.kind === 'text' && b.kind === 'text' ? a.text === b.text : a.kind === b.kind
}

interface OpenedFile {
  readonly found: DocumentFileContent
  /** The open file; undefined if the path is missing, a link or a socket. */
  readonly handle?: FileHandle
}

/** Error codes with which `open` refuses a link or a socket. */
const NOT_A_FILE = new Set(['ELOOP', 'ENXIO'])

export async function openDocumentFile(path: string): Promise<OpenedFile> {
  let handle: FileHandle
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (thrown) {
    const { code = '' } = thrown as { code?: string }
    if (code === 'ENOENT') return { found: { kind: 'absent' } }
    if (NOT_A_FILE.has(code)) return { found: { kind: 'torn', why: 'it is not a regular file' } }
    throw thrown
  }
  try {
    return { found: await readContent(handle), handle }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

export async function readContent(handle: FileHandle): Promise<DocumentFileContent> {
  if (!(await handle.stat()).isFile()) return { kind: 'torn', why: 'it is not a regular file' }
  const bytes = await readUpTo(MAX_DOCUMENT_BYTES + 1, handle)
  if (bytes.length > MAX_DOCUMENT_BYTES) return { kind: 'torn', why: 'it is larger than 1 MB' }
  const text = decodeText(bytes)
  if (text === undefined) return { kind: 'torn', why: 'it is not UTF-8 text' }
  return text.includes('\0') ? { kind: 'torn', why: 'it contains a NUL character' } : { kind: 'text', text }
}

/** Reads in pieces, because most documents are small and each is read many times per cycle. */
async function readUpTo(most: number, handle: FileHandle): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  while (length < most) {
    const piece = Buffer.alloc(PIECE_BYTES)
    const { bytesRead } = await handle.read(piece, 0, Math.min(piece.length, most - length), length)
    if (bytesRead === 0) break
    pieces.push(piece.subarray(0, bytesRead))
    length += bytesRead
  }
  return Buffer.concat(pieces)
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
