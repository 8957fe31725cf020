/** Files of the built page, read into memory once, so that no request can name another file. */

import { hash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Context as HonoContext } from 'hono'
import { acceptsGzip } from './compressed-stream.ts'

type Bytes = Uint8Array<ArrayBuffer>

interface PageFile {
  readonly body: Bytes
  readonly headers: Readonly<Record<string, string>>
  /** Contract: the body in gzip, compressed once; undefined: it would hardly be smaller. */
  compressed(): Bytes | undefined
}

export type PageFiles = ReadonlyMap<string, PageFile>

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Files in this folder have a hash of the content in their names, so browsers may cache them for ever. */
const HASHED = /^\/assets\//

/** Less fits into the first packets anyway. */
const MIN_COMPRESSED_BYTES = 1024
const COMPRESSIBLE: ReadonlySet<string> = new Set(['.js', '.css', '.svg'])

/** Contract: files by URL path; `/` is index.html. Empty if the page is not built. */
export function pageFiles(folder: string): PageFiles {
  const files = new Map<string, PageFile>()
  for (const found of globSync('**', { cwd: folder })) {
    const type = TYPES[extname(found)]
    const file = join(folder, found)
    if (type === undefined || !statSync(file).isFile()) continue
    const path = `/${found.replaceAll(sep, '/')}`
    files.set(path === '/index.html' ? '/' : path, pageFile(path, type, readFileSync(file)))
  }
  return files
}

function pageFile(path: string, type: string, body: Bytes): PageFile {
  const caching: Readonly<Record<string, string>> = HASHED.test(path)
    ? { 'Cache-Control': 'public, max-age=31536000, immutable' }
    : { 'Cache-Control': 'no-cache', ETag: `"${hash('sha256', body).slice(0, 32)}"` }
  const isCompressible = body.length >= MIN_COMPRESSED_BYTES && COMPRESSIBLE.has(extname(path))
  const varying: Readonly<Record<string, string>> = isCompressible ? { Vary: 'Accept-Encoding' } : {}
  let compressed: Bytes | undefined
  return {
    body,
    headers: { 'Content-Type': type, ...caching, ...varying },
    compressed() {
      if (isCompressible) compressed ??= gzipSync(body)
      return compressed
    },
  }
}

export function sendPageFile(c: HonoContext, { body, headers, compressed }: PageFile): Response {
  if (headers.ETag !== undefined && c.req.header('if-none-match') === headers.ETag) return c.body(null, 304, headers)
  const gzip = acceptsGzip(c.req.header('accept-encoding')) ? compressed() : undefined
  return gzip ? c.body(gzip, 200, { ...headers, 'Content-Encoding': 'gzip' }) : c.body(body, 200, headers)
}

export const NOT_BUILT =
  'The page is not built. Run npm run build:web, then start again. The API works: see /api/v1/openapi.json.\n'
