/** Schemas that say more than types: by tool, with arguments that do not fit and some that do. */

import type { Json } from '../../src/domain/json.ts'

interface Case {
  readonly schema: object
  /** Undefined where only the server can tell. */
  readonly bad?: Json
  readonly good: Json
}

const ANY = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } }
const A = { required: ['a'] }
const B = { required: ['b'] }
const DRAFT_7 = 'http://json-schema.org/draft-07/schema#'
const DRAFT_4 = 'http://json-schema.org/draft-04/schema#'
const MORE_THAN_5 = { type: 'object', properties: { n: { type: 'number', minimum: 5, exclusiveMinimum: true } } }

export const CASES: Readonly<Record<string, Case>> = {
  if_else: { schema: { ...ANY, if: B, else: { not: A } }, bad: { a: 'x' }, good: { a: 'x', b: 1 } },
  not: { schema: { ...ANY, not: A }, bad: { a: 'x' }, good: { b: 1 } },
  dependent: { schema: { ...ANY, dependentRequired: { a: ['b'] } }, bad: { a: 'x' }, good: { b: 1 } },
  draft_7: {
    schema: { ...ANY, $schema: DRAFT_7, dependencies: { a: ['b'] } },
    bad: { a: 'x' },
    good: { a: 'x', b: 1 },
  },
  any_of: { schema: { ...ANY, anyOf: [B, { required: ['c'] }] }, bad: { a: 'x' }, good: { c: 1 } },
  all_of: { schema: { ...ANY, allOf: [B] }, bad: { a: 'x' }, good: { b: 1 } },
  required_alone: { schema: { type: 'object', ...A }, bad: {}, good: { a: 1 } },
  no_others: { schema: { ...ANY, additionalProperties: false }, bad: { c: 1 }, good: { b: 1 } },
  draft_4: {
    schema: { $schema: DRAFT_4, type: 'object', properties: { l: { items: MORE_THAN_5 } } },
    bad: { l: [{ n: 6 }, { n: 5 }] },
    good: { l: [{ n: 6 }] },
  },
  /** Not a regular expression in strict mode. */
  odd_pattern: {
    schema: { type: 'object', properties: { a: { type: 'string', pattern: '^\\@x$' } } },
    bad: { a: 'x' },
    good: { a: '@x' },
  },
  /** A reference to elsewhere: only the server can check it. */
  elsewhere: {
    schema: { type: 'object', properties: { a: { $ref: 'https://elsewhere.example/schema.json' } } },
    good: { a: 1 },
  },
}
