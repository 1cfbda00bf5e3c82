/** A zip of files as they are, without packing: one upload for a whole folder. */

const CRCS = new Uint32Array(256).map((_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  return rest;
});
const LOCAL = 0x04034b50;
const ENTRY = 0x02014b50;
const END = 0x06054b50;
const UNICODE = 0x0800; // names are UTF-8
const DAY = 0x21; // 1 January 1980
const VERSION = 20;

/** @param {Uint8Array} bytes */
function crc(bytes) {
  let rest = ~0;
  for (const byte of bytes) rest = (rest >>> 8) ^ CRCS[(rest ^ byte) & 255];
  return ~rest >>> 0;
}

/** Numbers of two or four bytes, one after the other. @param {...[number, number]} numbers value and bytes */
function packed(...numbers) {
  const view = new DataView(new ArrayBuffer(numbers.reduce((sum, [, size]) => sum + size, 0)));
  let at = 0;
  for (const [value, size] of numbers) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return view.buffer;
}

/** @param {number} sum @param {number} size @param {number} length of the name */
const facts = (sum, size, length) => [[VERSION, 2], [UNICODE, 2], [0, 2], [0, 2], [DAY, 2], [sum, 4], [size, 4], [size, 4], [length, 2], [0, 2]];

/** @param {File[]} files @returns {Promise<Blob>} */
export async function zip(files) {
  const parts = [];
  const entries = [];
  let at = 0;
  for (const file of files) {
    const name = new TextEncoder().encode(file.webkitRelativePath || file.name);
    const known = facts(crc(new Uint8Array(await file.arrayBuffer())), file.size, name.length);
    const head = packed([LOCAL, 4], ...known);
    parts.push(head, name, file);
    entries.push(packed([ENTRY, 4], [VERSION, 2], ...known, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]), name);
    at += head.byteLength + name.length + file.size;
  }
  const size = entries.reduce((sum, one) => sum + one.byteLength, 0);
  const end = packed([END, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [size, 4], [at, 4], [0, 2]);
  return new Blob([...parts, ...entries, end], { type: "application/zip" });
}
