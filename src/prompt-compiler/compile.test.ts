import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { TirelessError } from '../domain/error.ts'
import { allotTokens, type TokenDemand } from './budget.ts'
import { compileSections } from './compile.ts'
import { compileSystemPrompt, type Section, wholeSection } from './sections.ts'
import { estimateTokens } from './tokens.ts'

const section = (name: string, text: string, more: Partial<Section> = {}): Section => ({
  ...{ name, text, whole: false, priority: 0, floor: 0, ceiling: null },
  ...more,
})

const demand = (need: number, more: Partial<TokenDemand> = {}): TokenDemand => ({
  ...{ name: 'it', need, whole: false, floor: 0, ceiling: null, priority: 0 },
  ...more,
})

const TEXTS = {
  ascii: Array.from({ length: 200 }, (_, i) => `line ${i}: the quick brown fox, {"n": ${i * 7919}}`).join('\n'),
  chinese: '系统在每一步之前都会检查预算，然后再决定下一步做什么。\n'.repeat(120),
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈🚀 ok 👍🏽\n'.repeat(150),
  'one huge line': 'abcDEF0123/+'.repeat(4000),
  'one huge line of emoji': '🚀'.repeat(5000),
  'blanks and lines': `x${' \n\t \n'.repeat(2000)}x`,
}

describe('O14: tokens', () => {
  test('case 104: the estimate for words, code, keys, Chinese and emoji is at least that of real tokenizers', () => {
    // Expected: the higher count of cl100k_base and o200k_base.
    for (const [text, known] of [
      ['The quick brown fox jumps over the lazy dog.', 10],
      ['tiktoken is great!', 6],
      ['2 + 2 = 4', 7],
      ['function hello(name) { return name.trim() }', 10],
      ['系统在每一步之前都会检查预算，然后再决定下一步做什么。', 29],
      ['お誕生日おめでとう', 9],
      ['🚀🚀🚀', 9],
      ['👩‍👩‍👧‍👦🏳️‍🌈', 27],
      ['Привет, мир', 6],
      ['aGVsbG8gd29ybGQhIQ==', 13],
      ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 43],
      ['xqzkwvbnmpltrgh'.repeat(5), 45],
      ['!@#$%^&*()_+{}:<>?~'.repeat(8), 112],
    ] as const) {
      const tokens = estimateTokens(text)
      assert.ok(tokens >= known && tokens <= 2.5 * known, `${text}: ${tokens}, not about ${known}`)
    }
  })

  test('case 104: more text never has fewer tokens', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ unit: 'binary', maxLength: 5 }),
        (a, b) => estimateTokens(a + b) >= estimateTokens(a),
      ),
    )
  })
})

describe('O14: dividing the token limit', () => {
  test('case 104: floors first, then by priority; unused tokens go to the next section', () => {
    const demands = [
      demand(500, { floor: 100, priority: 1 }),
      demand(40, { floor: 100, priority: 3 }),
      demand(900, { floor: 50, priority: 2 }),
    ]
    assert.deepEqual(allotTokens(demands, 200), [100, 40, 60])
    assert.deepEqual(allotTokens(demands, 1000), [100, 40, 860])
    assert.deepEqual(allotTokens(demands, 1300), [360, 40, 900])
    assert.deepEqual(allotTokens(demands, 5000), [500, 40, 900])
  })

  test('case 104: a section whose floor does not fit is left out; a smaller one may still fit', () => {
    assert.deepEqual(
      allotTokens([demand(90, { floor: 90, priority: 2 }), demand(30, { floor: 20, priority: 1 })], 50),
      [0, 30],
    )
  })

  test('case 104: no section gets more than its ceiling; ties go to the first', () => {
    assert.deepEqual(allotTokens([demand(90, { ceiling: 20 }), demand(90)], 80), [20, 60])
    assert.deepEqual(allotTokens([demand(90), demand(90)], 100), [90, 10])
    assert.deepEqual(
      allotTokens([demand(90, { ceiling: 20 }), demand(90, { ceiling: 20, whole: true })], null),
      [20, 90],
    )
  })

  test('case 106: a limit is above 0, or null for none', () => {
    assert.deepEqual(allotTokens([demand(1_000_000)], null), [1_000_000])
    for (const limit of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(() => allotTokens([demand(1)], limit), { code: 'config_invalid' }, String(limit))
  })

  test('case 105: a whole section is complete, whatever its ceiling, and comes before every floor', () => {
    assert.deepEqual(
      allotTokens([demand(50, { floor: 50, priority: 9 }), demand(80, { whole: true, ceiling: 10 })], 100),
      [0, 80],
    )
    assert.throws(
      () => allotTokens([demand(50, { whole: true, name: 'policy' }), demand(80, { whole: true, name: 'input' })], 129),
      (error: unknown) =>
        error instanceof TirelessError &&
        error.code === 'model_oversize' &&
        /130 tokens \(input 80, policy 50\); expected at most 129; do this: shorten/.test(error.message),
    )
  })
})

describe('O14: the compiler', () => {
  for (const [kind, text] of Object.entries(TEXTS))
    test(`case 104: never over the limit; the mark says how much is missing: ${kind}`, () => {
      for (const limit of [60, 200, 1000]) {
        const made = compileSections(
          [wholeSection('rules', 'Be brief.'), section('memory', text, { priority: 1 }), section('more', text)],
          limit,
        )
        assert.ok(estimateTokens(made.text) <= limit, `${estimateTokens(made.text)} of ${limit}`)
        assert.equal(made.tokens, estimateTokens(made.text))
        if (kind !== 'blanks and lines') assert.ok(made.tokens > limit * 0.6, `${made.tokens} of ${limit} are used`)
        assert.ok(made.text.isWellFormed(), 'no half characters')
        assert.ok(made.text.startsWith('Be brief.\n\n'))
        const cut = made.parts.find(({ missing }) => missing > 0)
        assert.equal(cut?.name, 'memory')
        const [, left, of] = /^\[… (\d+) of (\d+) characters left out …\]$/m.exec(cut?.text ?? '') ?? []
        const kept = (cut?.text ?? '').slice(0, (cut?.text ?? '').lastIndexOf('\n[… '))
        assert.equal(kept.length, Number(of) - Number(left))
        assert.ok(text.replace(/^\s*\n/, '').startsWith(kept), 'its beginning, line breaks and all')
        assert.deepEqual(made.dropped, ['more'])
      }
    })

  test('case 104: never over the limit, whatever the texts, floors and ceilings', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.stringMatching(/^[ \n\ta-zA-Z0-9一-龥]{0,400}$/),
    )
    const any = fc.record({
      name: fc.string(),
      text,
      whole: fc.boolean(),
      priority: fc.integer({ min: -3, max: 3 }),
      floor: fc.nat(80),
      ceiling: fc.option(fc.integer({ min: 1, max: 200 })),
    })
    fc.assert(
      fc.property(fc.array(any, { maxLength: 6 }), fc.integer({ min: 1, max: 400 }), (sections, limit) => {
        try {
          const { text: made, parts } = compileSections(sections, limit)
          return (
            estimateTokens(made) <= limit &&
            parts.every(({ name, missing }) => missing === 0 || sections.some((it) => it.name === name && !it.whole))
          )
        } catch (error) {
          return error instanceof TirelessError && error.code === 'model_oversize'
        }
      }),
    )
  })

  test('case 104: sections are truncated at line ends, and the unused rest goes to the next section', () => {
    const lines = `${'a line of ten words that is neither long nor short\n'.repeat(20)}`
    const made = compileSections(
      [section('first', lines, { priority: 1, ceiling: 100 }), section('second', lines)],
      200,
    )
    const [first, second] = made.parts
    assert.match(first?.text ?? '', /short\n\[… \d+ of \d+ characters left out …\]$/)
    assert.ok((first?.tokens ?? 0) < 100)
    assert.ok((second?.tokens ?? 0) > 100, 'more than its own half')
  })

  test('empty sections leave no gap; blank lines around a section are removed', () => {
    const made = compileSections([section('a', '\n\n  one\n\n'), section('b', ' \n '), section('c', 'two')], null)
    assert.equal(made.text, '  one\n\ntwo')
    assert.deepEqual(
      { names: made.parts.map(({ name }) => name), dropped: made.dropped },
      { names: ['a', 'c'], dropped: [] },
    )
  })

  test('case 103: the system prompt has a fixed order of sections, and includes the text protocol', () => {
    const made = compileSystemPrompt(
      { unattended: 'U', output_protocol: 'O', toolbox: 'T', role: 'R', policy: 'P', process_rules: 'S' },
      'X',
    )
    assert.equal(made.text, 'R\n\nS\n\nP\n\nT\n\nO\n\nX\n\nU')
    assert.deepEqual(compileSystemPrompt('one text').text, 'one text')
    assert.deepEqual(compileSystemPrompt('one text', 'protocol').text, 'one text\n\nprotocol')
  })
})
