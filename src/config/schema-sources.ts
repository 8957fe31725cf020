/** Schemas of input sources: one per type. */

import { z } from 'zod'
import { confinedProcessKeys } from './schema-mcp.ts'
import {
  cronLine,
  customIssue,
  exactlyOne,
  httpUrl,
  instantText,
  isMapping,
  nonEmptyText,
  pauseDuration,
  positiveCount,
  positiveDuration,
  safeName,
  secretKeys,
  timezoneName,
} from './value-types.ts'

const EVENT = 'a name of 1 to 64 characters (a-z A-Z 0-9 _ . -)'
const eventName = z.string(EVENT).regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/, EVENT)

const BYTES = 'a number of bytes from 1 to 1000000'
const mostBytes = z.int(BYTES).min(1, BYTES).max(1_000_000, BYTES).prefault(65_536)

/** Every writer of a trusted source can give the resident orders, so nothing is trusted by default. */
const labelKeys = {
  trusted: z
    .boolean()
    .prefault(false)
    .describe(
      'true: residents take what arrives here for the words of the owner; only if the owner alone can write to it',
    ),
  private: z.boolean().prefault(false).describe('true: what arrives here must not reach third parties'),
}

const signed = exactlyOne('secret', 'secret_env', 'secret_file')

const webhook = z
  .strictObject({
    type: z.literal('webhook'),
    ...secretKeys,
    event: eventName.prefault('webhook').describe('name of the event for a body that is not {"text": …}'),
    max_bytes: mostBytes.describe('size limit of a body'),
    ...labelKeys,
  })
  .superRefine(signed, { when: isMapping })

const websocket = z
  .strictObject({
    type: z.literal('websocket'),
    ...secretKeys,
    origins: z
      .array(httpUrl)
      .prefault([])
      .describe("origins of other sites' pages that may connect, such as https://desk.example.com"),
    max_bytes: mostBytes.describe('size limit of a frame'),
    max_per_second: positiveCount.prefault(50).describe('frames that are read per second and connection'),
    ...labelKeys,
  })
  .superRefine(signed, { when: isMapping })

const lines = z.strictObject({
  type: z.literal('lines'),
  terminal: z.boolean().prefault(false).describe('true: read also if the standard input is a terminal'),
  ...labelKeys,
})

const files = z.strictObject({
  type: z.literal('files'),
  paths: z
    .array(nonEmptyText)
    .nonempty('a list of files, folders or globs, such as [inbox, "notes/**/*.md"]')
    .describe('relative to the configuration file; links are not followed'),
  ignore: z
    .array(nonEmptyText)
    .prefault(['.git', 'node_modules'])
    .describe('names or globs of files and folders to leave out'),
  settle: pauseDuration.prefault('500ms').describe('a change is reported when the file has been quiet for this long'),
  poll: positiveDuration.prefault('10s').describe('how often to look, because file systems lose change events'),
  max_files: positiveCount.prefault(5000).describe('with more files the source fails'),
  ...labelKeys,
})

const timer = z
  .strictObject({
    type: z.literal('timer'),
    every: positiveDuration.optional(),
    cron: cronLine.optional(),
    at: instantText.optional(),
    timezone: timezoneName.nullable().prefault(null).describe("null: the kernel's"),
    event: eventName.prefault('timer').describe('name of the event'),
  })
  .superRefine(exactlyOne('every', 'cron', 'at'), { when: isMapping })

const PID = 'the number of a running process'

const processSource = z
  .strictObject({
    type: z.literal('process'),
    command: z.array(z.string()).nonempty('a command with its arguments, such as [tail, -F, log.txt]').optional(),
    pid: z.int(PID).min(2, PID).optional().describe('watch a process that something else started'),
    ...confinedProcessKeys,
    output: z
      .enum(['none', 'slice', 'events'])
      .prefault('none')
      .describe('what becomes of output lines: the latest one is a slice, or each is an event process_output'),
    restart: z.enum(['never', 'always']).prefault('never').describe('always: again after its exit, later each time'),
    ...labelKeys,
  })
  .superRefine(exactlyOne('command', 'pid'), { when: isMapping })

const mcpResource = z.strictObject({
  type: z.literal('mcp_resource'),
  server: safeName.describe('an entry of `mcp_servers`'),
  uri: nonEmptyText,
  poll: positiveDuration.prefault('1m').describe('how often to read it; a server that reports changes is also heard'),
  max_chars: positiveCount.prefault(8000).describe('a longer text is cut'),
  ...labelKeys,
})

const startup = z.strictObject({ type: z.literal('startup') })

const SOURCES = [webhook, websocket, lines, files, timer, processSource, mcpResource, startup] as const
const TYPES = SOURCES.map(({ shape }) => shape.type.value)

export const sourceSchema = z.discriminatedUnion('type', SOURCES, `one of ${TYPES.join(', ')}`)

interface ConfigWithSources {
  readonly sources?: Readonly<Record<string, z.output<typeof sourceSchema>>>
  readonly mcp_servers?: Readonly<Record<string, unknown>>
  readonly channels?: { readonly webhook?: unknown }
}

/** Names that must exist elsewhere in the configuration, or must not. Parts that are invalid themselves are skipped. */
export function checkSourceNames(config: ConfigWithSources, context: z.RefinementCtx): void {
  const { sources = {}, mcp_servers = {}, channels } = config
  const refuse = (path: (string | number)[], message: string, input: unknown, fix: string): void =>
    context.addIssue({ ...customIssue(message, input, fix), path })
  for (const [name, source] of Object.entries(isMapping({ value: sources }) ? sources : {})) {
    if (source?.type === 'mcp_resource' && !Object.hasOwn(mcp_servers, source.server))
      refuse(['sources', name, 'server'], namesOf('mcp_servers', mcp_servers), source.server, 'configure that server')
    const isHook = source?.type === 'webhook' || source?.type === 'websocket'
    if (isHook && name === 'webhook' && channels?.webhook !== undefined)
      refuse(['sources', name], 'a name that no channel has', source, 'rename the source')
  }
}

const namesOf = (key: string, mapping: object): string => {
  const names = Object.keys(mapping)
  return names.length === 0 ? `an entry of \`${key}\`, which has none` : `an entry of \`${key}\`: ${names.join(', ')}`
}
