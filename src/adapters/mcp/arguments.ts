/** The arguments of a server's tool, checked against the schema that the server gives, and handed on as they came. */

import { z } from 'zod'
import type { Json } from '../../domain/json.ts'

export type Arguments = { readonly [name: string]: Json }

/** Contract: what cannot be read as a schema asks for an object and nothing else; the server has the last word on its own arguments. */
export function argumentsOf(schema: Json): z.ZodType<Arguments> {
  const fits = readable(schema)
  const any = z.record(z.string(), z.json()) as unknown as z.ZodType<Arguments>
  if (fits === undefined) return any
  return any.superRefine((args, context) => {
    const { error } = fits.safeParse(args)
    for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path: [...path], message })
  })
}

/** Made when it is first needed: most tools of a server are never called. */
function readable(schema: Json): { safeParse(args: unknown): z.ZodSafeParseResult<unknown> } | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return undefined
  let made: z.ZodType | undefined
  return {
    safeParse(args) {
      made ??= converted(schema as Readonly<Record<string, Json>>)
      return made.safeParse(args)
    },
  }
}

function converted({ $schema: dialect, ...schema }: Readonly<Record<string, Json>>): z.ZodType {
  // Older dialects keep shared parts under another name; nothing else that matters here differs.
  for (const given of [schema, { ...schema, $schema: dialect }])
    try {
      return z.fromJSONSchema(given as Parameters<typeof z.fromJSONSchema>[0])
    } catch {}
  return z.looseObject({})
}
