/** Files of the built page, read into memory once, so that no request can name another file. */

import { hash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'

export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

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

/** Contract: files by URL path; `/` is index.html. Empty if the page is not built. */
export function pageFiles(folder: string): ReadonlyMap<string, PageFile> {
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

function pageFile(path: string, type: string, body: Uint8Array<ArrayBuffer>): PageFile {
  const caching: Readonly<Record<string, string>> = HASHED.test(path)
    ? { 'Cache-Control': 'public, max-age=31536000, immutable' }
    : { 'Cache-Control': 'no-cache', ETag: `"${hash('sha256', body).slice(0, 32)}"` }
  return { body, headers: { 'Content-Type': type, ...caching } }
}

export const NOT_BUILT =
  'The page is not built. Run npm run build:web, then start again. The API works: see /api/v1/openapi.json.\n'
