// Builds the package for users: compiled code, type declarations, the built page, and a manifest without development
// settings.
//
//   node scripts/build.mjs [FOLDER]      default: dist

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { built, STAMP } from './web-stamp.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = resolve(process.argv[2] ?? join(root, 'dist'))

/** Removes an earlier build. Refuses a folder with other files. */
function clear() {
  const known = ['agents', 'bin', 'lib', 'web', 'package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']
  const foreign = existsSync(out) ? readdirSync(out).filter((name) => !known.includes(name)) : []
  if (foreign.length > 0)
    throw new Error(
      [
        `${out} contains other files; got ${foreign.join(', ')}; expected an empty folder or an earlier build;`,
        'do this: name another folder',
      ].join(' '),
    )
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
}

function compile() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // Types are checked by `npm run check`; here they are only written, which is twice as fast.
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', join(out, 'lib')]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error(`the compiler exited with code ${status}; see the output above`)
  for (const file of globSync('lib/**/*.d.ts', { cwd: out })) {
    const path = join(out, file)
    writeFileSync(path, useCompiledNames(readFileSync(path, 'utf8')))
  }
}

/** The compiler keeps `.ts` imports in declarations, which some compilers of users cannot resolve. */
function useCompiledNames(declaration) {
  return declaration.replace(/(\bfrom |\bimport\(|\bmodule )(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2')
}

/** The texts that the model reads, beside the compiled code that loads them. */
function copyPrompts() {
  for (const file of globSync('prompts/**/*.md', { cwd: join(root, 'src') }))
    cpSync(join(root, 'src', file), join(out, 'lib', file))
}

/** The compiled server expects the page beside `lib`. */
function buildPage() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'web.mjs')], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`the build of the page exited with code ${status}; see the output above`)
  const isStamp = (file) => basename(file) === STAMP
  cpSync(built, join(out, 'web', 'dist'), { recursive: true, filter: (file) => !isStamp(file) })
}

const checkout = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/**
 * What programs import: it checks the version of Node before the library is loaded. An old Node would refuse one of
 * the imports of the library with an error that does not say why.
 */
function writeEntry() {
  const index = readFileSync(join(out, 'lib', 'index.js'), 'utf8')
  const exported = [...index.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list]) => list.split(','))
  const names = exported.map((entry) => entry.trim().split(' as ').at(-1)).filter((name) => name !== '')
  const floor = checkout.engines.node.replace('>=', '')
  const lines = [
    "import { createRequire } from 'node:module'",
    '',
    `const floor = [${floor.split('.').join(', ')}]`,
    "const version = process.versions.node.split('.').map(Number)",
    'const differs = floor.findIndex((least, i) => version[i] !== least)',
    'if (differs >= 0 && version[differs] < floor[differs])',
    `  throw new Error(\`tireless: Node is too old; got \${process.version}; expected ${floor} or newer; do this: ` +
      'install a newer Node (nodejs.org) and run the program again`)',
    "const library = createRequire(import.meta.url)('./index.js')",
    `export const { ${names.join(', ')} } = library`,
  ]
  writeFileSync(join(out, 'lib', 'checked-index.js'), `${lines.join('\n')}\n`)
}

/** The declarations use types of Node, which the compiler of a user does not look for by itself. */
function referToNodeTypes() {
  for (const entry of ['index', 'testing/index']) {
    const path = join(out, 'lib', `${entry}.d.ts`)
    writeFileSync(path, `/// <reference types="node" />\n${readFileSync(path, 'utf8')}`)
  }
}

function manifest() {
  const { name, version, description, keywords, license, type, engines, dependencies, devDependencies } = checkout
  const entry = (path, code = path) => ({ types: `./lib/${path}.d.ts`, default: `./lib/${code}.js` })
  return {
    ...{ name, version, description, keywords, license, type, engines },
    bin: { tireless: 'bin/tireless.cjs' },
    exports: {
      '.': entry('index', 'checked-index'),
      './testing': entry('testing/index'),
      './package.json': './package.json',
    },
    dependencies: { ...dependencies, '@types/node': devDependencies['@types/node'] },
  }
}

try {
  clear()
  compile()
  referToNodeTypes()
  writeEntry()
  copyPrompts()
  buildPage()
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  cpSync(join(root, 'bin', 'installed.cjs'), join(out, 'bin', 'tireless.cjs'))
  cpSync(join(root, 'agents'), join(out, 'agents'), { recursive: true })
  for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, file), join(out, file))
} catch (error) {
  process.stderr.write(`tireless: the package could not be built: ${error.message}\n`)
  process.exitCode = 1
}
