/** Checks the arguments of a call against the server's JSON schema. The arguments are passed on unchanged. */

import { createRequire } from 'node:module'
import { z } from 'zod'
import type { Json } from '../../domain/json.ts'

export type ToolArguments = { readonly [name: string]: Json }

type Schema = Readonly<Record<string, Json>>

interface SchemaError {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Contract: returns the errors in the arguments; throws if the schema is invalid. */
type Check = (args: ToolArguments) => readonly SchemaError[]

/** Contract: if the schema is invalid, any object is accepted, because the server checks its arguments itself. */
export function argumentsSchema(schema: Json): z.ZodType<ToolArguments> {
  const any = z.record(z.string(), z.json()) as unknown as z.ZodType<ToolArguments>
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return any
  let checks: readonly (() => Check)[] | undefined
  return any.superRefine((args, context) => {
    // The checks are built at the first call, because most tools of a server are never called.
    checks ??= [bySchema, byZod].map((build) => once(() => build(schema as Schema)))
    for (const { path, message } of findErrors(args, checks))
      context.addIssue({ code: 'custom', path: [...path], message })
  })
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Runs the first check that accepts the schema; returns no errors if none accepts it. */
function findErrors(args: ToolArguments, checks: readonly (() => Check)[]): readonly SchemaError[] {
  for (const check of checks)
    try {
      return check()(args)
    } catch {}
  return []
}

/** Checks with the SDK's validator, which supports all keywords of all drafts and generates no code from the schema. */
function bySchema(schema: Schema): Check {
  const required = createRequire(import.meta.url)('@modelcontextprotocol/client/validators/cf-worker')
  const { CfWorkerJsonSchemaValidator } = required as typeof import('@modelcontextprotocol/client/validators/cf-worker')
  const draft = draftOf(String(schema.$schema ?? DIALECT))
  const validate = new CfWorkerJsonSchemaValidator({ shortcircuit: false, draft }).getValidator(schema)
  return (args) => {
    const { valid, errorMessage = '' } = validate(args)
    return valid ? [] : parseErrors(errorMessage)
  }
}

/** The draft that is assumed if a schema names no draft, or an unknown draft. */
const DIALECT = '2020-12'

function draftOf(dialect: string): '2020-12' | '2019-09' | '7' | '4' {
  if (dialect.includes('2019-09')) return '2019-09'
  if (/draft-0[67]/.test(dialect)) return '7'
  return dialect.includes('draft-04') ? '4' : DIALECT
}

const MOST_ERRORS = 5

/**
 * Parses the error text of the validator, `#/a/b: message; #: message`. If a message only says that a part does not
 * match, and another message names the error inside that part, only the other message is kept.
 */
function parseErrors(text: string): readonly SchemaError[] {
  const errors = text.split(/; (?=#(?:\/|: ))/).map((line) => {
    const [, pointer = '', message = line] = /^#(\S*?): (.*)$/s.exec(line) ?? []
    return { pointer, message: message.replace('False boolean schema.', 'unknown argument') }
  })
  const hasInnerError = (pointer: string): boolean => errors.some((other) => other.pointer.startsWith(`${pointer}/`))
  return errors
    .filter(({ pointer, message }) => !(/ match |had errors/.test(message) && hasInnerError(pointer)))
    .slice(0, MOST_ERRORS)
    .map(({ pointer, message }) => ({ path: pointer.split('/').slice(1).map(unescaped), message }))
}

/** Decodes one segment of a JSON pointer that is written as a URI fragment. */
const unescaped = (part: string): string => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')

/** Checks with Zod if the SDK's validator rejects the schema, for example an invalid pattern. Knows fewer keywords. */
function byZod({ $schema: dialect, ...schema }: Schema): Check {
  // Tries without the draft, then with it: Zod needs it for older drafts, whose shared definitions have another name.
  for (const given of [schema, { ...schema, $schema: dialect }])
    try {
      const made = z.fromJSONSchema(given as Parameters<typeof z.fromJSONSchema>[0])
      return (args) => made.safeParse(args).error?.issues ?? []
    } catch {}
  return () => []
}
