/** Checks the arguments of a call against the server's JSON schema. The arguments are passed on unchanged. */

import { createRequire } from 'node:module'
import type { OutputUnit } from '@cfworker/json-schema'
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

/** Checks with a validator that supports all keywords of all drafts and generates no code from the schema. */
function bySchema(schema: Schema): Check {
  // Loaded here because most processes check no arguments.
  const { Validator } = createRequire(import.meta.url)(
    '@cfworker/json-schema',
  ) as typeof import('@cfworker/json-schema')
  const validator = new Validator(schema, draftOf(String(schema.$schema ?? DIALECT)), false)
  return (args) => innermostErrors(validator.validate(args).errors)
}

/** The draft that is assumed if a schema names no draft, or an unknown draft. */
const DIALECT = '2020-12'

function draftOf(dialect: string): '2020-12' | '2019-09' | '7' | '4' {
  if (dialect.includes('2019-09')) return '2019-09'
  if (/draft-0[67]/.test(dialect)) return '7'
  return dialect.includes('draft-04') ? '4' : DIALECT
}

const MOST_ERRORS = 5

/** Keywords that apply other schemas: their errors only say that some part does not match. */
const APPLYING_KEYWORDS = new Set(
  [
    '$ref $recursiveRef allOf anyOf oneOf if dependentSchemas propertyNames',
    'properties patternProperties additionalProperties unevaluatedProperties',
    'prefixItems items additionalItems unevaluatedItems',
  ]
    .join(' ')
    .split(' '),
)

/** An error that only says that a part does not match is dropped if another error names what is wrong inside it. */
function innermostErrors(errors: readonly OutputUnit[]): readonly SchemaError[] {
  const hasInnerError = (at: string): boolean => errors.some((other) => other.instanceLocation.startsWith(`${at}/`))
  return errors
    .filter(({ instanceLocation, keyword }) => !(APPLYING_KEYWORDS.has(keyword) && hasInnerError(instanceLocation)))
    .slice(0, MOST_ERRORS)
    .map(({ instanceLocation, keyword, error }) => ({
      path: instanceLocation.split('/').slice(1).map(unescaped),
      message: keyword === 'false' ? 'unknown argument' : error,
    }))
}

/** Decodes one segment of a JSON pointer that is written as a URI fragment. */
const unescaped = (part: string): string => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')

/** Checks with Zod if the first validator rejects the schema, for example an invalid pattern. Knows fewer keywords. */
function byZod({ $schema: dialect, ...schema }: Schema): Check {
  // Tries without the draft, then with it: Zod needs it for older drafts, whose shared definitions have another name.
  for (const given of [schema, { ...schema, $schema: dialect }])
    try {
      const made = z.fromJSONSchema(given as Parameters<typeof z.fromJSONSchema>[0])
      return (args) => made.safeParse(args).error?.issues ?? []
    } catch {}
  return () => []
}
