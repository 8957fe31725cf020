import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DeterministicMemory, MemoryView, PastTurn } from '../ports/memory.ts'
import type { ModelMessage } from '../ports/model.ts'
import { MEMORY_KINDS } from './memory-kinds.ts'
import { recallMemory } from './recall.ts'
import { summaryMemory } from './summary.ts'
import { windowMemory } from './window.ts'

const query = (text: string) => ({ text })
const EMPTY_QUERY = query('')

function turnOf(turn: number, user: string, assistant = '', ...tools: [tool: string, ok: boolean][]): PastTurn {
  const calls = tools.map(([tool], index) => ({ id: `c${index}`, tool, args: {} }))
  return {
    turn,
    messages: [
      { role: 'user', text: user },
      { role: 'assistant', text: assistant, calls },
      ...tools.map(
        ([tool, ok], index): ModelMessage => ({ role: 'tool', call_id: `c${index}`, tool, text: 'result', ok }),
      ),
    ],
  }
}

function appendTurns(
  memory: DeterministicMemory,
  from: number,
  upto: number,
  text = (turn: number) => `request ${turn}`,
): void {
  for (let turn = from; turn < upto; turn++)
    memory.append(turnOf(turn, text(turn), `Looked. Answer ${turn} is done.`, ['ls', true]))
}

function sizeOf(turns: readonly PastTurn[]): number {
  return turns.flatMap(({ messages }) => messages).reduce((sum, { text }) => sum + text.length, 0)
}

describe('Q10: every kind of memory', () => {
  for (const kind of MEMORY_KINDS) {
    it(`${kind.name}: shows all turns while there are few, and forgets all on reset`, () => {
      const memory = kind.open()
      assert.deepEqual(memory.retrieve(EMPTY_QUERY), { from: 0, summary: '', recalled: [] })
      appendTurns(memory, 7, 20)
      assert.deepEqual(memory.retrieve(query('request 8')), { from: 0, summary: '', recalled: [] })
      appendTurns(memory, 20, 60)
      memory.evict()
      memory.reset()
      assert.deepEqual(memory.retrieve(query('request 8')), { from: 0, summary: '', recalled: [] })
      assert.equal(memory.summarise(0, 100), '')
      assert.equal(memory.evict(), 0)
    })

    it(`case 49: ${kind.name}: evicts half at a time, oldest first, and never the last turn`, () => {
      const memory = kind.open()
      appendTurns(memory, 1, 17)
      assert.equal(memory.evict(), 8)
      assert.equal(memory.retrieve(EMPTY_QUERY).from, 9)
      const given = [memory.evict(), memory.evict(), memory.evict(), memory.evict()]
      assert.deepEqual(given, [4, 2, 1, 0])
      assert.equal(memory.retrieve(EMPTY_QUERY).from, 16)
    })

    it(`case 18: ${kind.name}: the same history gives the same bytes`, () => {
      const [one, other] = [kind.open(), kind.open()]
      appendTurns(one, 1, 80)
      appendTurns(other, 1, 80)
      assert.equal(JSON.stringify(one.retrieve(query('request 3'))), JSON.stringify(other.retrieve(query('request 3'))))
    })

    it(`K3: ${kind.name}: 10,000 turns give a view of limited size, which changes only when the window moves`, () => {
      const memory = kind.open()
      const views = new Set<string>()
      let view: MemoryView = memory.retrieve(EMPTY_QUERY)
      for (let turn = 1; turn <= 10_000; turn++) {
        memory.append(turnOf(turn, `request ${turn} ${'x'.repeat(200)}`, `Answer ${turn}.`, [`tool_${turn}`, true]))
        if (turn % 4 === 0) {
          view = memory.retrieve(query(`request ${turn}`))
          views.add(JSON.stringify(view))
        }
      }
      const jumps = kind.name === 'whole' ? 1 : 10_000 / 13 + 1
      assert.ok(views.size <= jumps && views.size > jumps - 2, `${views.size} views`)
      assert.ok(view.summary.length <= 6000)
      assert.ok(view.recalled.length <= 3 && view.recalled.every((snippet) => snippet.length <= 400))
    })
  }
})

describe('Q10: window', () => {
  it('shows between n and 2n turns, and moves n turns at a time', () => {
    const memory = windowMemory(3)
    const from: number[] = []
    for (let turn = 1; turn <= 12; turn++) {
      appendTurns(memory, turn, turn + 1)
      from.push(memory.retrieve(EMPTY_QUERY).from)
    }
    assert.deepEqual(from, [0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 9, 9])
  })

  it('keeps the last turn, even with n = 0', () => {
    const memory = windowMemory(0)
    appendTurns(memory, 1, 6)
    assert.equal(memory.retrieve(EMPTY_QUERY).from, 5)
    assert.equal(memory.evict(), 0)
  })
})

describe('Q10: summary', () => {
  it('K3: summarises exactly the turns that left the window', () => {
    const memory = summaryMemory(2)
    const words = ['', 'alpha', 'beta', 'gamma', 'delta', 'epsilon']
    for (let turn = 1; turn <= 5; turn++)
      memory.append(
        turnOf(turn, `Please look at ${words[turn]} for me now`, `I did. The ${words[turn]} is fine.`, [
          'ls',
          turn !== 3,
        ]),
      )
    const { from, summary } = memory.retrieve(EMPTY_QUERY)
    assert.equal(from, 4)
    assert.equal(
      summary,
      'Summary of turns 1 to 3.\nFirst request: Please look at alpha for me now\n' +
        'Tools used: ls ×3 (the last one failed)\nTurn 1: The alpha is fine.\n' +
        'Turn 2: The beta is fine.\nTurn 3: The gamma is fine.',
    )
    assert.equal(memory.summarise(1, 4), summary)
    assert.match(memory.summarise(4, 6), /^Summary of turns 4 to 5.*\nFirst request: Please look at delta/)
    assert.equal(memory.summarise(6, 9), '')
  })

  it('case 111: includes the previous summary, and keeps the earliest facts', () => {
    const memory = summaryMemory(2)
    memory.append(turnOf(1, 'The password of the safe is swordfish', 'Noted: swordfish.'))
    appendTurns(memory, 2, 12_000)
    const { summary } = memory.retrieve(EMPTY_QUERY)
    assert.match(summary, /^Summary of turns 1 to 1199\d\.\nFirst request: The password of the safe is swordfish\n/)
    assert.match(summary, /\nTurn 1: Noted: swordfish\.\nTurn 2: /)
    assert.match(summary, /Answer 1199\d is done\.$/)
    assert.match(summary, /ls ×1199\d/)
    assert.match(memory.summarise(1, 12_000), /swordfish/)
  })

  it('K3: is always shorter than the turns it replaces', () => {
    for (let size = 0; size < 60; size++) {
      const memory = summaryMemory(1)
      const turns = [1, 2, 3].map((turn) => turnOf(turn, '你'.repeat(size), '😀。'.repeat(size % 3)))
      for (const turn of turns) memory.append(turn)
      const { summary } = memory.retrieve(EMPTY_QUERY)
      const replaced = sizeOf(turns.slice(0, 2))
      assert.ok(summary.length < replaced || (summary === '' && replaced === 0), `${summary.length} for ${replaced}`)
      assert.ok(summary.isWellFormed())
    }
  })

  it('case 111: where not everything fits, the earliest and the latest sentences stay', () => {
    const memory = summaryMemory(1)
    for (let turn = 1; turn <= 40; turn++) memory.append(turnOf(turn, 'go on', `${'word '.repeat(30)}${turn}`))
    const { summary } = memory.retrieve({ text: '', maxChars: 2000 })
    const turns = [...summary.matchAll(/^Turn (\d+):/gm)].map((match) => Number(match[1]))
    assert.deepEqual(turns.slice(0, 3), [1, 2, 3])
    assert.ok(turns.length < 23 && turns.includes(memory.retrieve(EMPTY_QUERY).from - 1), turns.join())
  })

  it('stays limited with long requests, many tools and long answers', () => {
    const memory = summaryMemory(1)
    for (let turn = 1; turn <= 300; turn++)
      memory.append(
        turnOf(turn, '请求'.repeat(5000), `完成了。${'很长'.repeat(5000)}`, [`tool_with_a_long_name_${turn}`, true]),
      )
    assert.ok(memory.retrieve(EMPTY_QUERY).summary.length <= 6000)
    assert.ok(memory.retrieve({ text: '', maxChars: 500 }).summary.length <= 500)
    assert.ok(memory.summarise(1, 301).length <= 6000)
  })
})

describe('Q10: recall', () => {
  const facts = new Map([
    [3, 'The customer in Lisbon wants blue tiles'],
    [5, '客户希望明天早上收到报告'],
    [6, 'Blue is a colour. Nothing about it matters.'],
  ])
  function recallFixture(): DeterministicMemory {
    const memory = recallMemory(4)
    appendTurns(memory, 1, 10, (turn) => facts.get(turn) ?? `Weather report number ${turn}`)
    return memory
  }

  it('recalls the best matching turns, in order of turn', () => {
    const { from, recalled } = recallFixture().retrieve(query('which tiles did Lisbon order, the blue ones?'))
    assert.equal(from, 6)
    assert.deepEqual(
      recalled.map((snippet) => snippet.split('\n')[0]),
      ['[turn 3] The customer in Lisbon wants blue tiles'],
    )
  })

  it('finds Chinese by pairs of characters', () => {
    const { recalled } = recallFixture().retrieve(query('报告什么时候要？'))
    assert.match(recalled.join('|'), /^\[turn 5\] 客户希望明天早上收到报告\n/)
    assert.deepEqual(recallFixture().retrieve(query('完全无关')).recalled, [])
  })

  it('shows at most three snippets of 400 characters, around the words of the query', () => {
    const memory = recallMemory(1)
    for (let turn = 1; turn <= 9; turn++)
      memory.append({
        turn,
        messages: [
          { role: 'user', text: `${'😀 '.repeat(150)} the needle` },
          { role: 'user', text: 'y '.repeat(500) },
        ],
      })
    const { recalled } = memory.retrieve(query('needle'))
    assert.equal(recalled.length, 3)
    for (const snippet of recalled) {
      assert.ok(snippet.length <= 400 && snippet.includes('needle') && snippet.isWellFormed(), snippet)
      assert.match(snippet, /^\[turn \d\] ….*…$/s)
    }
    assert.deepEqual(recalled, recalled.toSorted())
  })

  it('keeps its choice until the window moves, and then chooses again', () => {
    const memory = recallFixture()
    const view = memory.retrieve(query('Lisbon'))
    assert.deepEqual(memory.retrieve(query('报告')), view)
    memory.evict()
    assert.match(memory.retrieve(query('报告')).recalled.join('|'), /turn 5/)
  })

  it('drops the oldest of more than 5,000 turns', () => {
    const memory = recallMemory(1)
    memory.append(turnOf(1, 'swordfish'))
    appendTurns(memory, 2, 5000)
    assert.match(memory.retrieve(query('swordfish')).recalled.join(), /turn 1\]/)
    appendTurns(memory, 5000, 5100)
    assert.deepEqual(memory.retrieve(query('swordfish')).recalled, [])
  })
})
