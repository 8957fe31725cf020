/** Build of the page. `npx vite web` serves it during development, with the API of a running `start`. */

import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'

const SERVER = 'http://127.0.0.1:7717'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // Nothing inline, not even small images: the page's content security policy forbids it.
  build: { modulePreload: { polyfill: false }, assetsInlineLimit: 0, reportCompressedSize: false },
  // The server only accepts requests with its own host and origin.
  server: { proxy: { '/api': { target: SERVER, changeOrigin: true, headers: { origin: SERVER } } } },
})
