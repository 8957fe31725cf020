/**
 * Text of a model as Markdown. The tokens of the parser become elements of this list and nothing else: HTML stays
 * text, images become links, links lead to http and https only. No markup is ever built from a string.
 */

import { Lexer, type Token, type Tokens } from 'marked'
import type { ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import { visibleText } from './format.ts'

/** Longer texts are shown as they are; parsing them would keep the page busy. */
const MAX_PARSED_CHARS = 60_000
const MAX_SHOWN_CHARS = 200_000
const MAX_DEPTH = 12

interface MarkdownProps {
  readonly text: string
  /** Keeps the lines of the text, as in a chat; in a document they are only wrapped. */
  readonly keepsLines?: boolean
}

export function Markdown({ text, keepsLines = false }: MarkdownProps) {
  const content = useMemo(() => renderText(visibleText(text), keepsLines), [text, keepsLines])
  return (
    <div class="prose" dir="auto">
      {content}
    </div>
  )
}

function renderText(text: string, keepsLines: boolean): ComponentChild {
  if (text.length > MAX_PARSED_CHARS) return plainText(text)
  try {
    return renderTokens(new Lexer({ gfm: true, breaks: keepsLines }).lex(text), 0)
  } catch {
    // The parser gives up on texts that nest too deep.
    return plainText(text)
  }
}

const plainText = (text: string): ComponentChild => (
  <p class="max-h-[60vh] overflow-auto whitespace-pre-wrap">
    {text.slice(0, MAX_SHOWN_CHARS)}
    {text.length > MAX_SHOWN_CHARS && ' …'}
  </p>
)

function renderTokens(tokens: readonly Token[] | undefined, depth: number): ComponentChild {
  if (depth > MAX_DEPTH) return tokens?.map(({ raw }) => raw)
  return tokens?.map((token, at) => <Part key={at} token={token} depth={depth + 1} />)
}

interface PartProps {
  readonly token: Token
  readonly depth: number
}

function Part({ token, depth }: PartProps): ComponentChild {
  const render = Object.hasOwn(ELEMENTS, token.type) ? ELEMENTS[token.type] : undefined
  return render ? render(token as Tokens.Generic, depth) : decodeEntities(token.raw)
}

type Render = (token: Tokens.Generic, depth: number) => ComponentChild

const inside: Render = ({ tokens, text }, depth) => (tokens ? renderTokens(tokens, depth) : decodeEntities(text ?? ''))

const ELEMENTS: Readonly<Record<string, Render>> = {
  space: () => null,
  hr: () => <hr />,
  br: () => <br />,
  paragraph: (token, depth) => <p>{inside(token, depth)}</p>,
  text: inside,
  escape: ({ text }) => text,
  strong: (token, depth) => <strong>{inside(token, depth)}</strong>,
  em: (token, depth) => <em>{inside(token, depth)}</em>,
  del: (token, depth) => <del>{inside(token, depth)}</del>,
  codespan: ({ text }) => <code>{decodeEntities(text)}</code>,
  code: ({ text }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled with the keyboard, too.
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  ),
  blockquote: (token, depth) => <blockquote>{inside(token, depth)}</blockquote>,
  heading: (token, depth) => {
    // The page's own headings are above those of a text.
    const Heading = (['h3', 'h4', 'h5'] as const)[Math.min(token.depth, 3) - 1] ?? 'h5'
    return <Heading>{inside(token, depth)}</Heading>
  },
  list: (token, depth) => renderList(token as Tokens.List, depth),
  table: (token, depth) => renderTable(token as Tokens.Table, depth),
  link: (token, depth) => renderLink(token.href, inside(token, depth), token.raw),
  image: ({ href, text, raw }) => renderLink(href, `🖼 ${text || href}`, raw),
}

function renderList({ ordered, start, items }: Tokens.List, depth: number): ComponentChild {
  const children = items.map(({ task, checked, tokens }, at) => (
    <li key={at} class={task ? 'task' : ''}>
      {task && <input type="checkbox" checked={checked ?? false} disabled aria-label={checked ? '✓' : '–'} />}
      {renderTokens(
        tokens.filter(({ type }) => type !== 'checkbox'),
        depth,
      )}
    </li>
  ))
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>
}

function renderTable({ header, rows }: Tokens.Table, depth: number): ComponentChild {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard, too.
    <div class="wide-table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map(({ tokens, align }, at) => (
              <th key={at} data-align={align}>
                {renderTokens(tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map(({ tokens, align }, column) => (
                <td key={column} data-align={align}>
                  {renderTokens(tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function renderLink(href: unknown, label: ComponentChild, raw: string): ComponentChild {
  const address = webAddress(href)
  if (address === undefined) return label ?? raw
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
      {label}
    </a>
  )
}

/** Contract: the address if it is one of the web; undefined for `javascript:`, `data:`, files and everything else. */
function webAddress(href: unknown): string | undefined {
  if (typeof href !== 'string' || !URL.canParse(href)) return undefined
  const { protocol, href: address } = new URL(href)
  return protocol === 'https:' || protocol === 'http:' ? address : undefined
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' }

const decodeEntities = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole)
