/** How the page is built. `npx vite web` serves it while it is worked on, with the API of a running `start`. */

import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'

const SERVER = 'http://127.0.0.1:7717'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // Nothing inline, not even a small picture: the page's policy allows none of it.
  build: { modulePreload: { polyfill: false }, assetsInlineLimit: 0, reportCompressedSize: false },
  // Asked for by its own name and from its own page, or the server would refuse.
  server: { proxy: { '/api': { target: SERVER, changeOrigin: true, headers: { origin: SERVER } } } },
})
