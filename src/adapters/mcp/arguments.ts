/** The arguments of a server's tool, checked against the schema that the server gives, and handed on as they came. */

import { createRequire } from 'node:module'
import { z } from 'zod'
import type { Json } from '../../domain/json.ts'

export type Arguments = { readonly [name: string]: Json }

type Schema = Readonly<Record<string, Json>>

interface Misfit {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** What does not fit. Contract: throws where the schema cannot be read. */
type Check = (args: Arguments) => readonly Misfit[]

/** Contract: what cannot be read as a schema asks for an object and nothing else; the server has the last word on its own arguments. */
export function argumentsOf(schema: Json): z.ZodType<Arguments> {
  const any = z.record(z.string(), z.json()) as unknown as z.ZodType<Arguments>
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return any
  let checks: readonly (() => Check)[] | undefined
  return any.superRefine((args, context) => {
    // Made when they are first needed: most tools of a server are never called.
    checks ??= [bySchema, byZod].map((made) => once(() => made(schema as Schema)))
    for (const { path, message } of misfitsOf(args, checks))
      context.addIssue({ code: 'custom', path: [...path], message })
  })
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** By the first check that can read the schema. */
function misfitsOf(args: Arguments, checks: readonly (() => Check)[]): readonly Misfit[] {
  for (const check of checks)
    try {
      return check()(args)
    } catch {}
  return []
}

/** The SDK's own validator, which reads every keyword of every dialect and makes no code of what a server has written. */
function bySchema(schema: Schema): Check {
  const required = createRequire(import.meta.url)('@modelcontextprotocol/client/validators/cf-worker')
  const { CfWorkerJsonSchemaValidator } = required as typeof import('@modelcontextprotocol/client/validators/cf-worker')
  const draft = draftOf(String(schema.$schema ?? DIALECT))
  const validate = new CfWorkerJsonSchemaValidator({ shortcircuit: false, draft }).getValidator(schema)
  return (args) => {
    const { valid, errorMessage = '' } = validate(args)
    return valid ? [] : misfitsIn(errorMessage)
  }
}

/** Of a schema that does not say, and of one that says what nobody knows. */
const DIALECT = '2020-12'

function draftOf(dialect: string): '2020-12' | '2019-09' | '7' | '4' {
  if (dialect.includes('2019-09')) return '2019-09'
  if (/draft-0[67]/.test(dialect)) return '7'
  return dialect.includes('draft-04') ? '4' : DIALECT
}

const MOST_MISFITS = 5

/** `#/a/b: words; #: words`. That a part does not match says nothing where it is also said what is wrong within. */
function misfitsIn(said: string): readonly Misfit[] {
  const misfits = said.split(/; (?=#(?:\/|: ))/).map((line) => {
    const [, pointer = '', message = line] = /^#(\S*?): (.*)$/s.exec(line) ?? []
    return { pointer, message: message.replace('False boolean schema.', 'there is no such argument') }
  })
  const isSaidWithin = (pointer: string): boolean => misfits.some((other) => other.pointer.startsWith(`${pointer}/`))
  return misfits
    .filter(({ pointer, message }) => !(/ match |had errors/.test(message) && isSaidWithin(pointer)))
    .slice(0, MOST_MISFITS)
    .map(({ pointer, message }) => ({ path: pointer.split('/').slice(1).map(unescaped), message }))
}

/** Of a JSON pointer in an address. */
const unescaped = (part: string): string => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')

/** Where a pattern is none to the first: less strict, and it does not know every keyword. */
function byZod({ $schema: dialect, ...schema }: Schema): Check {
  // Older dialects keep shared parts under another name; nothing else that matters here differs.
  for (const given of [schema, { ...schema, $schema: dialect }])
    try {
      const made = z.fromJSONSchema(given as Parameters<typeof z.fromJSONSchema>[0])
      return (args) => made.safeParse(args).error?.issues ?? []
    } catch {}
  return () => []
}
