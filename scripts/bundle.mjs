// Bundles the command line, from which it starts in half of the processor time: the sources are a thousand modules.
//
//   node scripts/bundle.mjs
//
// bin/tireless uses the bundle while no source is newer; so do the tests, if they run all together. `import.meta` of a
// module keeps the values of its source, so other files are found where they are. Only the modules that plugins share
// with the program are found in the bundle, because each may exist only once in a process.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundledMain, bundles, root, stamp } from './bundle-stamp.mjs'

const ENTRIES = ['cli/main', 'cli/cli', 'index', 'testing/index']
/** A program that still runs may load another part of its bundle. */
const KEPT_MS = 7 * 24 * 3_600_000

const sourceOf = (entry) => join(root, 'src', `${entry}.ts`)

async function loadRolldown() {
  const ofVite = createRequire(createRequire(import.meta.url).resolve('vite/package.json'))
  return import(pathToFileURL(ofVite.resolve('rolldown')).href)
}

/** What the modules get in place of `import.meta`. */
const keepSourcePlaces = {
  name: 'keep-source-places',
  transform(code, id) {
    if (!id.startsWith(join(root, 'src')) || !code.includes('import.meta')) return undefined
    const url = JSON.stringify(pathToFileURL(id).href)
    return code
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
      .replaceAll('import.meta.filename', JSON.stringify(id))
      .replaceAll('import.meta.url', url)
      .replaceAll('import.meta.resolve(', `__resolve(${url}, `)
  },
}

/** Resolves as from the source, except that a module of the bundle is that of the bundle. */
function resolver(folder) {
  const href = (path) => pathToFileURL(path).href
  const places = ENTRIES.map((entry) => [href(sourceOf(entry)), href(join(folder, `${entry}.js`))])
  return [
    `const __places = new Map(${JSON.stringify(places)})`,
    'const __resolve = (from, name) => {',
    "  if (!name.startsWith('.')) return import.meta.resolve(name)",
    '  const url = new URL(name, from).href',
    '  return __places.get(url) ?? url',
    '}',
  ].join('\n')
}

async function build(folder) {
  const { rolldown } = await loadRolldown()
  const program = await rolldown({
    input: Object.fromEntries(ENTRIES.map((entry) => [entry, sourceOf(entry)])),
    platform: 'node',
    external: [/^[^./]/],
    plugins: [keepSourcePlaces],
    logLevel: 'warn',
  })
  const names = { entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' }
  await program.write({ dir: folder, format: 'esm', banner: resolver(folder), ...names })
  await program.close()
}

/** Removes what an earlier build left. */
function removeOld(current) {
  for (const name of readdirSync(bundles)) {
    const path = join(bundles, name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (path !== current && path !== stamp && Date.now() - mtimeMs > KEPT_MS) rmSync(path, { recursive: true })
  }
}

/** Each build has a folder of its own; the stamp names the folder. */
async function main() {
  mkdirSync(bundles, { recursive: true })
  const folder = mkdtempSync(join(bundles, 'b-'))
  const newStamp = `${folder}.stamp`
  try {
    // Written before the sources are read: one that changes during the build is newer.
    writeFileSync(newStamp, `${root}\n${folder}\n`)
    await build(folder)
    renameSync(newStamp, stamp)
  } catch (error) {
    for (const path of [folder, newStamp]) rmSync(path, { recursive: true, force: true })
    throw error
  }
  removeOld(folder)
}

if (existsSync(join(root, 'src/cli/main.ts')) && bundledMain() === undefined) await main()
