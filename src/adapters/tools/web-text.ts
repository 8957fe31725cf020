/** Converts a response body to text: decodes its charset and reduces HTML to its visible text. */

import { htmlToText } from './html-to-text.ts'

const TEXT_APPLICATIONS =
  'json|xml|javascript|ecmascript|x-ndjson|yaml|x-yaml|toml|graphql|sql|x-sh|x-www-form-urlencoded'
const TEXTUAL = new RegExp(`^(text/|application/(${TEXT_APPLICATIONS})|[^;]+\\+(json|xml|yaml)\\b|image/svg)`, 'i')
const PAGE = /^(text\/html|application\/xhtml\+xml)/i

/** Contract: undefined if the body is not text. `type`: the `content-type` header. `url`: base of relative links. */
export function responseText(bytes: Buffer, type: string, url: string): string | undefined {
  const named = charsetOf(bytes, type)
  const isText = TEXTUAL.test(type) || (type === '' && !bytes.subarray(0, 4096).includes(0))
  if (!isText) return undefined
  const text = decode(bytes, named)
  if (text === undefined || text.includes('\0')) return undefined
  if (!PAGE.test(type) && !(type === '' && /^\s*<(!doctype html|html)/i.test(text))) return text
  const page = htmlToText(text, url)
  return page.title === '' ? page.text : `# ${page.title}\n\n${page.text}`
}

/** The charset that the header names, else the charset that a meta tag at the start of the page names, else UTF-8. */
function charsetOf(bytes: Buffer, type: string): string {
  const header = /charset\s*=\s*"?([\w-]{1,40})/i.exec(type)?.[1]
  return (
    header ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i.exec(bytes.subarray(0, 1024).toString('latin1'))?.[1] ??
    'utf-8'
  )
}

function decode(bytes: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return charset === 'utf-8' ? undefined : decode(bytes, 'utf-8')
  }
}
