/** web_search: asks the search provider that the owner configured, through the egress guard. */

import { z } from 'zod'
import { formatHostPort, parseHttpAddress } from '../../../domain/address.ts'
import type { CallResult } from '../../../domain/decision.ts'
import { TirelessError } from '../../../domain/error.ts'
import { UNTRUSTED_LABEL } from '../../../domain/label.ts'
import { truncateText } from '../../../domain/truncate.ts'
import { defineToolWithText } from '../../../ports/define-tool.ts'
import type { Egress } from '../../../ports/egress.ts'
import type { AnyTool } from '../../../ports/tool.ts'
import { loadToolText } from '../../../prompts/load-prompt.ts'
import { asToolResult, toolError } from '../tool-result.ts'
import { type FoundPage, readAnswer, type SearchAccess, searchProvider } from './providers.ts'

const MOST_ANSWER_BYTES = 2 * 1024 * 1024
const MOST_QUERY = 400
const MOST_PAGES = 20
/** Longest texts of a page that the model sees. */
const MOST_TITLE = 200
const MOST_TEXT = 600
const MOST_URL = 500

const args = z.strictObject({
  query: z.string().trim().min(1).max(MOST_QUERY),
  count: z.int().min(1).max(MOST_PAGES).default(8),
})
type Args = z.infer<typeof args>

/** `access` is read for every call, because the configuration can change. */
export const webSearch = (egress: Egress, access: () => SearchAccess): AnyTool =>
  defineToolWithText<Args>({
    name: 'web_search',
    loadText: () => loadToolText('web_search'),
    args,
    effect: () => ({ recovery: 'pure', reach: 'network', host: formatHostPort(parseAddress(access().address)) }),
    gives: () => UNTRUSTED_LABEL,
    // The query goes to the provider. Policy treats it as an argument of a request to the host.
    destinations: ({ query }) => [query],
    run: (wanted, { signal }) => asToolResult(() => search(egress, access(), wanted, signal)),
  })

function parseAddress(url: string) {
  const read = parseHttpAddress(url)
  if (read.kind === 'read') return read.value
  throw new TirelessError('tool_failed', `the address of the search provider is not valid: ${read.why}`)
}

async function search(egress: Egress, access: SearchAccess, wanted: Args, signal: AbortSignal): Promise<CallResult> {
  const provider = searchProvider(access.provider)
  const { url, ...rest } = provider.request(wanted, access)
  const answered = await egress.ask({ ...rest, to: parseAddress(url), maxBytes: MOST_ANSWER_BYTES }, signal)
  if (answered.kind === 'sent_on' || answered.status >= 300)
    return toolError(`${access.provider} answered with status ${answered.status}${hint(answered.status)}`)
  const pages = readAnswer(provider, answered.body.toString(), wanted.count)
  if (pages === undefined) return toolError(`${access.provider} gave no answer that can be read`)
  if (pages.length === 0) return { status: 'ok', content: `nothing was found for ${JSON.stringify(wanted.query)}` }
  return { status: 'ok', content: pages.map(describePage).join('\n\n') }
}

function hint(status: number): string {
  if (status === 401 || status === 403) return ': it refuses the key; ask the owner to check search.api_key'
  return status === 429 ? ': too many searches; try later' : ''
}

const describePage = ({ title, url, text }: FoundPage, at: number): string =>
  [
    `${at + 1}. ${oneLine(title, MOST_TITLE)}`,
    `   ${oneLine(url, MOST_URL)}`,
    ...(text === '' ? [] : [`   ${oneLine(text, MOST_TEXT)}`]),
  ].join('\n')

const oneLine = (text: string, most: number): string => truncateText(text.replaceAll(/\s+/g, ' ').trim(), most)
