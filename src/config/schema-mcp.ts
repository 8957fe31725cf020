/** Schema of an MCP server. */

import { z } from 'zod'
import { REACHES, RECOVERIES } from '../domain/effect.ts'
import {
  exactlyOne,
  hostPattern,
  httpUrl,
  isMapping,
  namedMapping,
  nonEmptyText,
  positiveDuration,
  textWithoutSpaces,
  variableName,
} from './value-types.ts'

const TRUSTS = ['trusted', 'untrusted'] as const

const toolEffect = z.strictObject({
  recovery: z.enum(RECOVERIES),
  reach: z.enum(REACHES),
  destinations: z
    .array(textWithoutSpaces)
    .optional()
    .describe('arguments that name the destination of a call; default: all arguments'),
  gives: z.enum(TRUSTS).optional().describe("default: the server's trust"),
  private: z.boolean().optional().describe('default: true if reach is private'),
})

/** What a process of the owner may see, write and reach: that of an MCP server, or of a source. */
export const confinedProcessKeys = {
  env: namedMapping(variableName, z.string())
    .prefault({})
    .describe('added to PATH, HOME and LANG; no other variable is passed on'),
  cwd: nonEmptyText
    .optional()
    .describe('default: the folder of the configuration file; other paths are relative to it'),
  sandbox: z
    .enum(['on', 'off'])
    .prefault('on')
    .describe('off: the server runs with your permissions and can read your files'),
  network: z
    .union(
      [z.enum(['none', 'all']), z.array(hostPattern)],
      'none, all, or a list of hosts such as packages.example.org',
    )
    .prefault('none')
    .describe('hosts that the server may reach from its sandbox, through a proxy; all: every public host'),
  folders: z
    .array(nonEmptyText)
    .prefault([])
    .describe('folders that the server may write, besides its own folder in the home'),
  reads: z
    .array(nonEmptyText)
    .prefault([])
    .describe('paths that the server may read, besides system folders and the folder of its command'),
}

export const mcpServerSchema = z
  .strictObject({
    command: z.array(z.string()).nonempty('a command with its arguments, such as [node, server.js]').optional(),
    url: httpUrl.optional(),
    ...confinedProcessKeys,
    headers: namedMapping(textWithoutSpaces, z.string()).prefault({}),
    timeout: positiveDuration.prefault('1m').describe('timeout of a call'),
    start_timeout: positiveDuration
      .prefault('1m')
      .describe('timeout of the first response; a server that is downloaded first needs longer'),
    trust: z.enum(TRUSTS).prefault('untrusted').describe("the trust level of the results of the server's tools"),
    effects: namedMapping(textWithoutSpaces, toolEffect)
      .prefault({})
      .describe('effect class by tool; tools not listed get the strictest class'),
    read_only: toolEffect
      .optional()
      .describe(
        'effect of tools that the server marks readOnlyHint and that are not in `effects`; default: the strictest',
      ),
  })
  .superRefine(exactlyOne('command', 'url'), { when: isMapping })
