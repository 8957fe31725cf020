/** Generated edge-case values (numbers, texts, times, JSON, bytes), and how often each property is checked. */

import fc from 'fast-check'

/**
 * `GARBAGE_RUNS=20 npm test -- test/garbage/*.test.ts` checks each property twenty times as often, with a new seed;
 * `GARBAGE_SEED` repeats a seed that failed. By default the seed is fixed, so that a test does not fail at random.
 */
const RUNS_FACTOR = Number(process.env.GARBAGE_RUNS ?? 1)
const SEED = process.env.GARBAGE_SEED ?? (RUNS_FACTOR === 1 ? '13' : undefined)

/** Many values at once. Start each failure message with `seedNote`, so that the failure can be repeated. */
export function sampleValues<T>(
  runs: number,
  values: fc.Arbitrary<T>,
): { readonly values: readonly T[]; readonly seedNote: string } {
  const seed = Number(SEED ?? Date.now() % 2 ** 31)
  return {
    values: fc.sample(values, { numRuns: runs * RUNS_FACTOR, seed }),
    seedNote: `GARBAGE_SEED=${seed} GARBAGE_RUNS=${RUNS_FACTOR}`,
  }
}

/** A failure names the seed and the smallest value that fails. */
export function checkProperty<T>(
  runs: number,
  values: fc.Arbitrary<T>,
  holds: (value: T) => Promise<void>,
): Promise<void> {
  const seed = SEED === undefined ? {} : { seed: Number(SEED) }
  return fc.assert(fc.asyncProperty(values, holds), {
    numRuns: runs * RUNS_FACTOR,
    endOnFailure: RUNS_FACTOR === 1,
    ...seed,
  })
}

const NUMBERS: readonly number[] = [
  ...[0, -0, 1, -1, 0.1, -0.5, 1.5, 5e-324, 1e21, 1e308, -1e308],
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 8.64e15, 8.64e15 + 1],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
]
export const anyNumber: fc.Arbitrary<number> = fc.oneof(fc.constantFrom(...NUMBERS), fc.double(), fc.integer())

/** Texts that look like numbers. */
const NUMERALS = [
  ...['', ' ', ' 12 ', '\t7\n', '１２', '٣', '1_000', '1,5', '1.5', '0x10', '1e999', '-0', '+5', 'NaN', 'Infinity'],
  ...['9007199254740993', '9'.repeat(400), 'null', 'undefined', 'true', '1n'],
]

export const TIMES = [
  ...['99999999999h', '36500d', '36501d', '1e400h', '-1h', '1.5ms', '0s', '10m', '１０m', '10 m', '0.0000001ms'],
  ...['2026-02-30', '2026-01-01T24:00:00Z', '2026-01-01T23:59:60Z', '2026-13-01T00:00', '0001-01-01', '9999-12-31'],
  ...['9999-12-31T23:59:59-12:00', '+275760-09-13T00:00:00Z', '2030-01-31T09:00', '2030-01-31T09:00:00.123456789Z'],
  ...['2030-01-31T09:00+99:99', '@daily', '@never', '* * * * *', '*/0 * * * *', '0 0 31 2 *', '60 24 32 13 8'],
]

/** Texts that often break programs. */
const TEXTS = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff\ud800',
    'a\ud83d',
    '\u202e\u2066rtl',
    '\ufeff',
    '\r\n',
    '\u2028',
    '中文',
    '👩‍👩‍👧',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '..',
    '../../etc/passwd',
    '/',
    '~',
    '-',
    '--',
    '--help',
    '-x',
  ],
  ...[
    '%00',
    '%s%n',
    `\${HOME}`,
    '$(id)',
    '`id`',
    "';--",
    '" OR 1=1',
    '<script>',
    '{{7*7}}',
    '[object Object]',
    '*',
    '?',
    '{',
    '}',
  ],
  ...['{"a":1,"a":2}', '[[[[', '\\', '\u001b[2J', 'default', 'secret:NAME', 'a'.repeat(300), '长'.repeat(5000)],
  ...['\ufffe\uffff', '\u0000\u0001', 'e\u0301', 'ﬀ', 'İ', 'ß', '\u200b', 'CON', 'NUL', 'x'.repeat(65)],
]
const MEGABYTE = 'x'.repeat(1024 * 1024)

export const anyText: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...TEXTS, ...NUMERALS, ...TIMES), weight: 6 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 40 }), weight: 2 },
  // Includes lone surrogates.
  {
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
      .map((codes) => String.fromCharCode(...codes)),
    weight: 1,
  },
)

/** Slow: use it rarely. */
export const megabyteText: fc.Arbitrary<string> = fc.constant(MEGABYTE)

const nested = (depth: number): unknown => {
  let value: unknown = 'bottom'
  for (let i = 0; i < depth; i += 1) value = i % 2 ? [value] : { a: value }
  return value
}

/** Any JSON value, and numbers that JSON cannot express. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { arbitrary: anyNumber, weight: 4 },
  { arbitrary: anyText, weight: 4 },
  { arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], nested(2000)), weight: 2 },
  { arbitrary: fc.array(fc.oneof(anyNumber, anyText), { maxLength: 3 }), weight: 1 },
  { arbitrary: fc.dictionary(anyText, fc.oneof(anyNumber, anyText, fc.constant(null)), { maxKeys: 3 }), weight: 1 },
  {
    arbitrary: fc.constantFrom<unknown>(JSON.parse('{"__proto__":{"x":1}}'), { constructor: { prototype: { x: 1 } } }),
    weight: 1,
  },
)

/** Invalid UTF-8, byte order marks, and JSON that is broken, nested or ambiguous. */
export const anyBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((codes) => Buffer.from(codes)),
  fc.constantFrom(
    Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
    Buffer.from([0xc3, 0x28]),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from('\ufeff{}'),
    Buffer.from('{"prompt":"\xff"}', 'latin1'),
    Buffer.from('{\r\n}\r\n'),
    Buffer.from('{"a":1,"a":2}'),
    Buffer.from(`${'['.repeat(50_000)}`),
    Buffer.from(`{"prompt":${'['.repeat(5000)}${']'.repeat(5000)}}`),
    Buffer.from('{"__proto__":{"prompt":"x"}}'),
    Buffer.from('1e999'),
    Buffer.from('{"limit":1e999}'),
    Buffer.from('{"prompt":"\\ud800"}'),
    Buffer.from('{"prompt":"a\\u0000b"}'),
    Buffer.alloc(0),
  ),
)
