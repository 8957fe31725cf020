/** Sets up MCP servers: adds one after a test, declares what its tools do, removes one. */

import { z } from 'zod'
import { REACHES, RECOVERIES } from '../domain/effect.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { copyMcpState, mcpStateSchema } from './lib/mcp-shapes.ts'
import { removedPartShape, removePart, tellOtherName } from './lib/part-secrets.ts'
import { takeBackSecret } from './lib/take-back-secret.ts'
import { splitWords } from './lib/words.ts'

const NAME = 'a name of 1 to 40 letters, digits, - or _ that begins with a letter'
const LIST = 'separated by commas'

export const mcpAdd = defineCommand({
  name: 'mcp add',
  summary: 'add an MCP server: a program that is started in the sandbox, or an address; tests it first',
  example: 'mcp add files --command "npx -y @modelcontextprotocol/server-filesystem /data" --reads /data',
  runsIn: 'any_process',
  needs: ['changeConfig', 'clock', 'configInUse', 'mcp', 'secrets', 'store'],
  positional: ['name'],
  input: z.object({
    name: z
      .string()
      .regex(/^[A-Za-z][\w-]{0,39}$/, NAME)
      .describe('name in mcp_servers'),
    command: z.string().min(1).optional().describe('program with its arguments; quotes keep blanks inside a word'),
    url: z.string().min(1).optional().describe('address of a server that runs elsewhere'),
    key: z.string().min(1).optional().meta({ secret: true }).describe('token that the server needs'),
    key_as: z
      .string()
      .regex(/^[A-Za-z][\w-]{0,63}$/, 'the name of a variable or header')
      .optional()
      .describe('variable (program) or header (address) that has the token; default: Authorization for an address'),
    network: z.string().default('none').describe(`program: none, all, or hosts that it may reach, ${LIST}`),
    folders: z.string().optional().describe(`program: folders that it may write, ${LIST}`),
    reads: z.string().optional().describe(`program: paths that it may read, ${LIST}`),
    sandbox: z.enum(['on', 'off']).default('on').describe('off: the program runs with your rights'),
    trust: z.enum(['trusted', 'untrusted']).default('untrusted').describe('whether its results count as your words'),
    untested: z.boolean().default(false).describe('keep it even if it does not start'),
  }),
  output: mcpStateSchema.extend({
    ok: z.boolean(),
    added: z.boolean(),
    secret: z.string().nullable().describe('the secret that has the token; null: no token was stored'),
  }),
  async run(context, { name, key, untested, ...given }, tell) {
    const part = partOf(name)
    const secret = key === undefined ? null : context.secrets.nameFor(part, secretNameOf(name))
    const settings = settingsOf(secret, given)
    refuseConfigured(context, name)
    const takeBack = secret !== null && key !== undefined ? context.secrets.setFor(part, secret, key.trim()) : undefined
    try {
      context.changeConfig([{ path: ['mcp_servers', name], value: settings }])
    } catch (thrown) {
      throw takeBack === undefined ? thrown : takeBackSecret(takeBack, secret ?? '', thrown)
    }
    const state = copyMcpState(await context.mcp.test(name))
    const ok = state.state === 'up'
    if (!ok && !untested) {
      await forgetServer(context, name)
      takeBack?.()
      return { ...state, ok, added: false, secret: null }
    }
    // Not the arguments: they may be secrets.
    const target = given.url === undefined ? splitWords(given.command ?? '')[0] : URL.parse(given.url)?.host
    await auditOwnerAction(context, 'mcp', { server: name, added: true, target: target ?? '' })
    tellOtherName(tell, secretNameOf(name), secret)
    return { ...state, ok, added: true, secret }
  },
  exitCode: ({ ok }) => (ok ? 0 : 1),
})

interface GivenServer {
  readonly command?: string | undefined
  readonly url?: string | undefined
  readonly key_as?: string | undefined
  readonly network: string
  readonly folders?: string | undefined
  readonly reads?: string | undefined
  readonly sandbox: 'on' | 'off'
  readonly trust: 'trusted' | 'untrusted'
}

/** Contract: the entry as the owner would write it, without defaults. The configuration checks its values. */
function settingsOf(secret: string | null, given: GivenServer): { [key: string]: Json } {
  const { command, url, sandbox, trust, network } = given
  if ((command === undefined) === (url === undefined))
    throw new TirelessError('usage', {
      what: 'expected either a command or an address',
      got: command ? 'both' : 'none',
    })
  if (secret !== null && command !== undefined && given.key_as === undefined)
    throw new TirelessError('usage', { what: 'name the variable that has the token', where: 'key_as' })
  const trusted = trust === 'trusted' ? { trust } : {}
  if (url !== undefined) return { url, ...headersOf(secret, given.key_as), ...trusted }
  return {
    command: [...splitWords(command ?? '')],
    ...(secret === null ? {} : { env: { [given.key_as ?? '']: `secret:${secret}` } }),
    ...(network === 'none' ? {} : { network: network === 'all' ? network : split(network) }),
    ...(given.folders ? { folders: split(given.folders) } : {}),
    ...(given.reads ? { reads: split(given.reads) } : {}),
    ...(sandbox === 'off' ? { sandbox } : {}),
    ...trusted,
  }
}

function headersOf(secret: string | null, header = 'Authorization'): { [key: string]: Json } {
  if (secret === null) return {}
  const reference = `secret:${secret}`
  return { headers: { [header]: /^authorization$/i.test(header) ? `Bearer ${reference}` : reference } }
}

const split = (list: string): string[] => list.split(',').flatMap((part) => part.trim() || [])

const secretNameOf = (server: string): string => `MCP_${server.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`

const partOf = (server: string): string => `mcp_servers.${server}`

const isConfigured = ({ configInUse }: Needs<'configInUse'>, name: string): boolean =>
  configInUse().some(({ key }) => key.startsWith(`mcp_servers.${name}.`))

function refuseConfigured(context: Needs<'configInUse'>, name: string): void {
  if (!isConfigured(context, name)) return
  throw new TirelessError('conflict', {
    what: `mcp_servers.${name} is configured already`,
    fix: 'choose another name, or remove it first: tireless mcp remove',
  })
}

/** The configuration first: a server that is still configured would be approved as a new one. */
async function forgetServer({ changeConfig, mcp }: Needs<'changeConfig' | 'mcp'>, name: string): Promise<void> {
  changeConfig([{ path: ['mcp_servers', name], value: undefined }])
  await mcp.forget(name)
}

const server = z.string().min(1).describe('name in mcp_servers').meta({ idOf: 'mcp_server' })

export const mcpRemove = defineCommand({
  name: 'mcp remove',
  summary: 'remove an MCP server from the configuration, with the approvals of its tools, and the token of mcp add',
  example: 'mcp remove files',
  runsIn: 'any_process',
  needs: ['changeConfig', 'clock', 'mcp', 'secrets', 'store'],
  positional: ['server'],
  input: z.object({ server }),
  output: z.object({ server: z.string(), ...removedPartShape }),
  async run(context, { server: name }, tell) {
    // The configuration first: a server that is still configured would be approved as a new one.
    const removed = removePart(context, ['mcp_servers', name], tell)
    await context.mcp.forget(name)
    await auditOwnerAction(context, 'mcp', { server: name, added: false })
    return { server: name, ...removed }
  },
})

const WHOLE = 'both --recovery and --reach, or neither of them to remove the declaration'

export const mcpDeclare = defineCommand({
  name: 'mcp declare',
  summary: 'say what calls of a tool do, so that the policy need not expect the worst',
  example: 'mcp declare files read_file --recovery pure --reach private',
  runsIn: 'any_process',
  needs: ['changeConfig', 'clock', 'mcp', 'store'],
  positional: ['server', 'tool'],
  input: z.object({
    server,
    tool: z.string().min(1).describe('name of the tool on the server'),
    recovery: z.enum(RECOVERIES).optional().describe('what to do with a call that a crash interrupted'),
    reach: z.enum(REACHES).optional().describe('how far a call goes'),
  }),
  output: z.object({ server: z.string(), tool: z.string(), declared: z.boolean() }),
  async run(context, { server: name, tool, recovery, reach }) {
    if ((recovery === undefined) !== (reach === undefined)) throw new TirelessError('usage', `expected ${WHOLE}`)
    const path = ['mcp_servers', name, 'effects', tool]
    if (recovery === undefined || reach === undefined) context.changeConfig([{ path, value: undefined }])
    // Other keys of the declaration, such as its destinations, stay.
    else
      context.changeConfig([
        { path: [...path, 'recovery'], value: recovery },
        { path: [...path, 'reach'], value: reach },
      ])
    const declared = reach !== undefined
    await auditOwnerAction(context, 'mcp', { server: name, tool, recovery: recovery ?? null, reach: reach ?? null })
    return { server: name, tool, declared }
  },
})
