/** What came over the web, as text to read: decoded by its charset, pages reduced to what they say. Undefined where it is no text. */

import { readable } from './readable.ts'

const TEXTUAL =
  /^(text\/|application\/(json|xml|javascript|ecmascript|x-ndjson|yaml|x-yaml|toml|graphql|sql|x-sh|x-www-form-urlencoded)|[^;]+\+(json|xml|yaml)\b|image\/svg)/i
const PAGE = /^(text\/html|application\/xhtml\+xml)/i

/** `type`: of the header `content-type`. `url`: where it came from. */
export function webText(bytes: Buffer, type: string, url: string): string | undefined {
  const named = charsetOf(bytes, type)
  const isText = TEXTUAL.test(type) || (type === '' && !bytes.subarray(0, 4096).includes(0))
  if (!isText) return undefined
  const text = decode(bytes, named)
  if (text === undefined || text.includes('\0')) return undefined
  if (!PAGE.test(type) && !(type === '' && /^\s*<(!doctype html|html)/i.test(text))) return text
  const { title, text: said } = readable(text, url)
  return title === '' ? said : `# ${title}\n\n${said}`
}

/** What the header says, else what the page says of itself in its beginning, else UTF-8. */
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
