import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fact } from '../domain/fact.ts'
import type { Embedder } from '../ports/embedder.ts'
import { semanticRecall } from './semantic.ts'

const factOf = (id: string, text: string): Fact => ({
  ...{ id, key: id, text, agent_id: 'a', session_id: 's', turn: 1, trust: 'trusted', private: false },
  ...{ created_at: '', expires_at: null, ended_by: null, status: 'known' },
})

const FACTS = [factOf('car', 'the automobile is red'), factOf('cat', 'the cat is black'), factOf('sun', 'it shines')]

const store = {
  facts: async () => FACTS,
  recallFacts: async ({ text }: { text: string }) =>
    FACTS.filter((fact) => fact.text.split(' ').some((word) => word.length > 3 && text.includes(word))),
}

const CONCEPTS = [/car|automobile|vehicle/, /cat|pet/, /sun|shines/]
const embedderOf = (asked: string[][] = []): Embedder => ({
  name: 'ideas',
  async embed(texts) {
    asked.push([...texts])
    return texts.map((text) => CONCEPTS.map((idea) => (idea.test(text) ? 1 : 0)))
  },
})

const keys = async (embedder: Embedder, text: string, limit = 5): Promise<string[]> =>
  (await semanticRecall(store as never, embedder)({ text, now: 0, limit })).map(({ key }) => key)

test('O14: facts with the same meaning are found without common words; with common words they rank first', async () => {
  assert.deepEqual(await keys(embedderOf(), 'my vehicle'), ['car'])
  assert.deepEqual(await keys(embedderOf(), 'is the pet black or is the vehicle?'), ['cat', 'car'])
  assert.deepEqual(await keys(embedderOf(), 'nothing of that'), [])
  assert.deepEqual(await keys(embedderOf(), 'is the pet black or is the vehicle?', 1), ['cat'])
})

test('each fact is embedded once', async () => {
  const asked: string[][] = []
  const recall = semanticRecall(store as never, embedderOf(asked))
  await recall({ text: 'a', now: 0, limit: 5 })
  await recall({ text: 'b', now: 0, limit: 5 })
  assert.deepEqual(
    asked.map((texts) => texts.length),
    [3, 1, 1],
  )
})

test('if the embedder fails, the ranking by words decides alone', async () => {
  const broken: Embedder = { name: 'broken', embed: () => Promise.reject(new Error('no')) }
  assert.deepEqual(await keys(broken, 'automobile'), ['car'])
})
