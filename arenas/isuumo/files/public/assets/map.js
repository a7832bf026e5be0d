// A rough map of the country, drawn by hand, and the towns around which estates lie.

export const cities = [
  { name: '北海道札幌市', latitude: 43.06, longitude: 141.35 },
  { name: '北海道函館市', latitude: 41.77, longitude: 140.73 },
  { name: '青森県青森市', latitude: 40.82, longitude: 140.75 },
  { name: '岩手県盛岡市', latitude: 39.70, longitude: 141.15 },
  { name: '宮城県仙台市', latitude: 38.27, longitude: 140.87 },
  { name: '福島県郡山市', latitude: 37.40, longitude: 140.38 },
  { name: '新潟県長岡市', latitude: 37.45, longitude: 138.85 },
  { name: '栃木県宇都宮市', latitude: 36.56, longitude: 139.88 },
  { name: '埼玉県川越市', latitude: 35.92, longitude: 139.49 },
  { name: '東京都八王子市', latitude: 35.67, longitude: 139.32 },
  { name: '千葉県船橋市', latitude: 35.69, longitude: 139.98 },
  { name: '神奈川県藤沢市', latitude: 35.34, longitude: 139.49 },
  { name: '長野県松本市', latitude: 36.24, longitude: 137.97 },
  { name: '静岡県浜松市', latitude: 34.71, longitude: 137.73 },
  { name: '愛知県岡崎市', latitude: 34.95, longitude: 137.17 },
  { name: '石川県金沢市', latitude: 36.56, longitude: 136.66 },
  { name: '京都府京都市', latitude: 35.01, longitude: 135.77 },
  { name: '大阪府堺市', latitude: 34.57, longitude: 135.48 },
  { name: '兵庫県姫路市', latitude: 34.82, longitude: 134.69 },
  { name: '広島県福山市', latitude: 34.49, longitude: 133.36 },
  { name: '愛媛県松山市', latitude: 33.84, longitude: 132.77 },
  { name: '福岡県久留米市', latitude: 33.32, longitude: 130.51 },
  { name: '熊本県熊本市', latitude: 32.80, longitude: 130.71 },
  { name: '沖縄県那覇市', latitude: 26.21, longitude: 127.68 },
]

// Outlines of the islands: longitude and latitude of their corners.
export const islands = [
  '140.9,41.5 141.45,41.4 141.5,40.5 142.05,39.6 141.5,38.4 141,38.1 141,37 140.6,36.3 140.85,35.75 140.3,35.1 139.85,34.95 140.05,35.5 139.8,35.65 139.65,35.25 139.1,35.2 138.85,34.65 138.7,35.1 138.2,34.6 137.1,34.6 136.9,35 136.6,34.6 136.9,34.3 136.2,33.9 135.75,33.45 135.1,34 135.4,34.6 134.7,34.75 133.9,34.5 132.4,34.3 131.9,33.95 130.9,33.95 130.95,34.4 131.6,34.65 132.6,35.3 133.2,35.55 134.4,35.6 135.3,35.75 135.9,35.6 136.1,36.1 136.7,36.9 136.75,37.35 137.3,37.5 137,36.85 137.4,36.75 138.2,37.15 138.8,37.8 139.4,38.2 139.85,39 140,39.8 139.75,39.95 140,40.3 139.9,40.6 140.35,41.2 140.7,40.9 140.9,41.1', // 本州
  '140.1,41.45 141.1,41.8 140.7,42.3 141,42.35 141.7,42.6 143.2,42 143.5,42.6 144.4,42.95 145.6,43.35 145.1,43.75 145.3,44.3 144.3,44 143,44.5 141.95,45.5 141.65,45.35 141.6,44 141.35,43.3 140.5,43.3 139.85,42.6 139.8,42.2 140.05,41.9', // 北海道
  '132,33.35 132.7,33.9 133,34.1 133.6,34.25 134.4,34.35 134.65,34.2 134.75,33.8 134.2,33.25 133.6,33.5 133,32.75 132.5,32.9', // 四国
  '130.9,33.95 131.1,33.6 131.7,33.65 131.75,33.25 132.05,32.95 131.5,32 131.35,31.4 130.7,31 130.2,31.25 130.2,32.1 130.6,32.5 130.2,32.8 129.75,32.6 129.6,33.1 129.85,33.5 130.4,33.65', // 九州
  '127.65,26.08 127.85,26.3 128.3,26.75 128.2,26.85 127.9,26.7 127.7,26.4', // 沖縄
]

// On the map a degree of longitude is shorter than one of latitude, as it is at
// 36 degrees north.
const shrink = Math.cos(36 * Math.PI / 180)

export const toMap = ({ latitude, longitude }) => ({ x: longitude * shrink, y: -latitude })
export const fromMap = ({ x, y }) => ({ latitude: -y, longitude: x / shrink })
